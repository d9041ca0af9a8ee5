import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { EnrolStep } from '../../signin/enrol-step.tsx'
import { fetchMethods } from '../../signin/second-step-api.ts'
import { queries } from '../admin-queries.ts'
import { toSignedIn } from '../sign-in-state.ts'
import { AdminSignInFrame } from './admin-sign-in-frame.tsx'
import { useAdminStep } from './use-admin-step.ts'

/**
 * The admin's enrolment of a second factor, which may be put off three times; whoever has done that comes here again
 * from the console. Portal §2 "Two-factor onboarding", specification README "Deferring and enrolling".
 */
export function AdminOnboardPage() {
  const { t } = useTranslation()
  const { goOn, expire, leave } = useAdminStep()
  const isSignedIn = toSignedIn(useQuery(queries.status)) === 'yes'
  const methods = useQuery({
    queryKey: ['secondStep', 'admin'],
    queryFn: ({ signal }) => fetchMethods('admin', { signal }),
    gcTime: 0,
  }).data
  return (
    <AdminSignInFrame
      title={t('otp.enrolTitle')}
      lead={t('otp.enrolLead')}
      footer={
        isSignedIn ? (
          <Link
            href="/admin/home"
            className="link inline-flex min-h-6 w-fit items-center self-center text-sm"
          >
            {t('admin.totp.later')}
          </Link>
        ) : null
      }
    >
      <EnrolStep
        realm="admin"
        onEnrolled={goOn}
        onExpired={expire}
        onBack={isSignedIn ? undefined : () => void leave()}
        onDeferred={!isSignedIn && methods?.Deferable ? goOn : undefined}
      />
    </AdminSignInFrame>
  )
}
