import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { configChangeSchema, kioskMinutes, type SettingsAnswer } from '#server/settings/setting.schema.ts'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { saveConfig, type Versioned } from '../admin-api.ts'
import { asRead, queries } from '../admin-queries.ts'
import { SettingsForm } from './settings-form.tsx'
import { SettingsSection } from './settings-section.tsx'
import { useSettingsForm } from './use-settings-form.ts'

/** How long a session on a public computer lasts. Console §2 "Settings". */
export function KioskSection() {
  const { t } = useTranslation()
  const settings = useQuery({ ...queries.settings, ...asRead })
  return (
    <SettingsSection title={t('admin.kiosk.title')} text={t('admin.kiosk.text')} query={settings}>
      {(read) => <KioskForm settings={read} />}
    </SettingsSection>
  )
}

const toValues = ({ KioskSessionDuration }: SettingsAnswer) => ({
  KioskSessionDuration: String(KioskSessionDuration),
})

/** Typed as a text; what isn't a number is told as the wire's own rule tells it. */
const schema = z.object({
  KioskSessionDuration: z
    .string()
    .trim()
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : -1))
    .pipe(configChangeSchema.shape.KioskSessionDuration.unwrap()),
})

const places = {
  fields: ['KioskSessionDuration'],
  codes: { 'err.kioskSessionDurationInvalid': 'KioskSessionDuration' },
} as const

function KioskForm({ settings }: { settings: Versioned<SettingsAnswer> }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { form, ...state } = useSettingsForm({ settings, toValues, schema, run: saveConfig, places })
  return (
    <SettingsForm label={t('admin.kiosk.title')} state={state}>
      <TextField
        label={t('admin.kiosk.duration')}
        description={t('admin.kiosk.durationText', kioskMinutes)}
        inputMode="numeric"
        error={errors.ofField(form.formState.errors.KioskSessionDuration?.message)}
        {...form.register('KioskSessionDuration')}
        className="max-w-sm"
      />
    </SettingsForm>
  )
}
