import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import {
  type ConfigChange,
  configChangeSchema,
  kioskMinutes,
  type Settings,
} from '#server/settings/setting.schema.ts'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { saveConfig, type Versioned } from '../admin-api.ts'
import { asRead, queries } from '../admin-queries.ts'
import { ChangedMeanwhile } from '../components/changed-meanwhile.tsx'
import { useRefusal } from '../people/use-refusal.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { SaveBar } from './save-bar.tsx'
import { SettingsSection } from './settings-section.tsx'

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

const toValues = ({ data }: Versioned<Settings>) => ({
  KioskSessionDuration: String(data.KioskSessionDuration),
})

/** Typed as a text; what isn't a number is told as the wire's own rule tells it. */
const formSchema = z.object({
  KioskSessionDuration: z
    .string()
    .trim()
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : -1))
    .pipe(configChangeSchema.shape.KioskSessionDuration),
})

const places = {
  fields: ['KioskSessionDuration'],
  codes: { 'err.kioskSessionDurationInvalid': 'KioskSessionDuration' },
} as const

function KioskForm({ settings }: { settings: Versioned<Settings> }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const client = useQueryClient()
  const form = useForm<{ KioskSessionDuration: string }, unknown, ConfigChange>({
    resolver: zodResolver(formSchema),
    defaultValues: toValues(settings),
  })
  const { errors: faults, isDirty } = form.formState
  useDirtyForm(isDirty)
  const { refuse, isOutdated, forget } = useRefusal(form, places)
  const reload = async () => {
    form.reset(toValues(await client.fetchQuery({ ...queries.settings, staleTime: 0 })))
    forget()
  }
  const save = useAdminAction({
    run: saveConfig,
    stale: [],
    done: 'admin.settings.updated',
    onDone: () => void reload().catch(refuse),
    onFailed: refuse,
  })
  const submit = form.handleSubmit((body) => save.mutate({ body, etag: settings.etag }))
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-5">
      {isOutdated ? <ChangedMeanwhile onReload={() => void reload().catch(refuse)} /> : null}
      <TextField
        label={t('admin.kiosk.duration')}
        description={t('admin.kiosk.durationText', kioskMinutes)}
        inputMode="numeric"
        error={errors.ofField(faults.KioskSessionDuration?.message)}
        {...form.register('KioskSessionDuration')}
        className="max-w-sm"
      />
      <SaveBar isDirty={isDirty} isSaving={save.isPending} onCancel={() => form.reset()} />
    </form>
  )
}
