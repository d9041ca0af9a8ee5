import { useTranslation } from 'react-i18next'
import { PageHeader } from '../../components/page-header.tsx'
import { AuthSection } from './auth-section.tsx'
import { BrandingSection } from './branding-section.tsx'
import { DiscoverySection } from './discovery-section.tsx'
import { KioskSection } from './kiosk-section.tsx'
import { LicenceSection } from './licence-section.tsx'
import { UiSection } from './ui-section.tsx'
import { UnsavedGuard } from './unsaved-guard.tsx'

/** Settings, section by section. Console §2 "Settings". */
export function SettingsPage() {
  const { t } = useTranslation()
  return (
    <>
      <UnsavedGuard />
      <PageHeader title={t('admin.page.settings')} />
      <LicenceSection />
      <AuthSection />
      <DiscoverySection />
      <KioskSection />
      <BrandingSection />
      <UiSection />
    </>
  )
}
