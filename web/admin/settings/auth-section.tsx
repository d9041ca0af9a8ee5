import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { asRead, queries } from '../admin-queries.ts'
import { AuthSettingsForm } from './auth-settings-form.tsx'
import { SettingsSection } from './settings-section.tsx'

/** Identity providers and the directory. Console §2 "Settings", "Authentication". */
export function AuthSection() {
  const { t } = useTranslation()
  const settings = useQuery({ ...queries.authSettings, ...asRead })
  return (
    <SettingsSection title={t('admin.auth.title')} text={t('admin.auth.text')} query={settings}>
      {(read) => <AuthSettingsForm settings={read} />}
    </SettingsSection>
  )
}
