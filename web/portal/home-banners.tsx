import { useTranslation } from 'react-i18next'
import type { UserStatus } from '#server/status/status.schema.ts'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { AddressBanner } from './address-banner.tsx'
import { findObstacle } from './home-obstacles.ts'
import type { HomeSession } from './use-home-session.ts'

type Props = Pick<HomeSession, 'failure' | 'isOffline' | 'news' | 'dismissNews' | 'retry'> & {
  status: UserStatus
}

/** The first thing that stands in the way of access, and below it a change of address, until dismissed. */
export function HomeBanners({ status, failure, isOffline, news, dismissNews, retry }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      {isOffline ? <Banner title={t('home.offline')} /> : null}
      <Obstacle status={status} failure={isOffline ? null : failure} retry={retry} />
      <AddressBanner news={news} onDismiss={dismissNews} />
    </div>
  )
}

function Obstacle({ status, failure, retry }: Pick<Props, 'status' | 'failure' | 'retry'>) {
  const { t } = useTranslation()
  const obstacle = findObstacle(status, failure)
  if (obstacle === undefined) return null
  if (obstacle === 'stale')
    return (
      <Banner
        tone="warn"
        title={t('home.stale')}
        action={
          <Button size="sm" onClick={retry}>
            {t('kit.retry')}
          </Button>
        }
      />
    )
  return (
    <Banner tone="danger" title={t(`home.${obstacle}`)}>
      {t(`home.${obstacle}Text`, { proxy: status.UntrustedProxy ?? '' })}
    </Banner>
  )
}
