import { useTranslation } from 'react-i18next'
import { VerifyStep } from '../signin/verify-step.tsx'
import { SignInFrame } from './sign-in-frame.tsx'
import { useSecondStep } from './use-second-step.ts'

/** The user's second step. Portal §2 "Two-factor verify". */
export function VerifyPage() {
  const { t } = useTranslation()
  const { goOn, expire, leave } = useSecondStep('verifyingTotp')
  return (
    <SignInFrame title={t('otp.verifyTitle')} lead={t('otp.verifyLead')}>
      <VerifyStep realm="user" onVerified={goOn} onExpired={expire} onBack={leave} />
    </SignInFrame>
  )
}
