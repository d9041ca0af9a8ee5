import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { queries } from '../admin-queries.ts'
import { allowanceOf } from '../shell/banners.ts'

/**
 * How many users may still be made above the limit, or that none may. Only where no SAML user is seen: those are
 * made by their provider. Console §4 "License", spec README "Users and the licence".
 */
export function UserLimitNote({ users }: { users: readonly UserRow[] | undefined }) {
  const { t } = useTranslation()
  const status = useQuery(queries.status).data
  if (status === undefined || users === undefined || users.some(({ AuthType }) => AuthType === 'SAML'))
    return null
  const { isExceeded, canCreate, remaining, limit } = allowanceOf(status)
  if (!isExceeded || limit === null) return null
  const percentage = status.Licensing.UserLimitOveragePercentage ?? 0
  return canCreate ? (
    <Banner tone="warn" title={t('admin.users.limitOver', { count: remaining ?? 0 })}>
      {t('admin.users.limitOverText', { limit, percentage })}
    </Banner>
  ) : (
    <Banner tone="danger" title={t('admin.users.limitBlocked')}>
      {t('admin.users.limitBlockedText', { limit, percentage })}
    </Banner>
  )
}
