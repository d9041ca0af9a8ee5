import { useTranslation } from 'react-i18next'
import { PageHeader } from '../../components/page-header.tsx'
import { LicenceSection } from './licence-section.tsx'

/** Settings, section by section. Console §2 "Settings". */
export function SettingsPage() {
  const { t } = useTranslation()
  return (
    <>
      <PageHeader title={t('admin.page.settings')} />
      <LicenceSection />
    </>
  )
}
