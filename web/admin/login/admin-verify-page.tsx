import { useTranslation } from 'react-i18next'
import { VerifyStep } from '../../signin/verify-step.tsx'
import { AdminSignInFrame } from './admin-sign-in-frame.tsx'
import { useAdminStep } from './use-admin-step.ts'

/** The admin's second step; here a code is required. Portal §2 "Two-factor verify". */
export function AdminVerifyPage() {
  const { t } = useTranslation()
  const { goOn, expire, leave } = useAdminStep()
  return (
    <AdminSignInFrame title={t('otp.verifyTitle')} lead={t('otp.verifyLead')}>
      <VerifyStep
        realm="admin"
        isCodeRequired
        onVerified={goOn}
        onExpired={expire}
        onBack={() => void leave()}
      />
    </AdminSignInFrame>
  )
}
