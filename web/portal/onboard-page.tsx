import { useTranslation } from 'react-i18next'
import { EnrolStep } from '../signin/enrol-step.tsx'
import { SignInFrame } from './sign-in-frame.tsx'
import { useSecondStep } from './use-second-step.ts'

/** The user's enrolment of a second factor. Portal §2 "Two-factor onboarding". */
export function OnboardPage() {
  const { t } = useTranslation()
  const { goOn, expire, leave } = useSecondStep('enrolling')
  return (
    <SignInFrame title={t('otp.enrolTitle')} lead={t('otp.enrolLead')}>
      <EnrolStep realm="user" onEnrolled={goOn} onExpired={expire} onBack={leave} />
    </SignInFrame>
  )
}
