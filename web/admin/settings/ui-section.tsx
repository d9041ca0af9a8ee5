import { useQuery } from '@tanstack/react-query'
import { Controller } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import type { SettingsAnswer } from '#server/settings/setting.schema.ts'
import { Switch } from '../../components/switch.tsx'
import { customize, type Versioned } from '../admin-api.ts'
import { asRead, queries } from '../admin-queries.ts'
import { SettingsForm } from './settings-form.tsx'
import { SettingsSection } from './settings-section.tsx'
import { useSettingsForm } from './use-settings-form.ts'

/** Which dashboard users get. Console §2 "Settings". */
export function UiSection() {
  const { t } = useTranslation()
  const settings = useQuery({ ...queries.settings, ...asRead })
  return (
    <SettingsSection title={t('admin.ui.title')} query={settings}>
      {(read) => <UiForm settings={read} />}
    </SettingsSection>
  )
}

const toValues = ({ NewUserDashboard }: SettingsAnswer) => ({ NewUserDashboard })
const schema = z.object({ NewUserDashboard: z.boolean() })
const places = { fields: ['NewUserDashboard'] } as const

function UiForm({ settings }: { settings: Versioned<SettingsAnswer> }) {
  const { t } = useTranslation()
  const { form, ...state } = useSettingsForm({ settings, toValues, schema, run: customize, places })
  return (
    <SettingsForm label={t('admin.ui.title')} state={state}>
      <Controller
        control={form.control}
        name="NewUserDashboard"
        render={({ field }) => (
          <Switch
            label={t('admin.ui.dashboard')}
            description={t('admin.ui.dashboardText')}
            checked={field.value}
            onChange={field.onChange}
          />
        )}
      />
    </SettingsForm>
  )
}
