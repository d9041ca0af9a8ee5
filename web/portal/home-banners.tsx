import { useTranslation } from 'react-i18next'
import type { UserStatus } from '#server/status/status.schema.ts'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import type { HomeSession } from './use-home-session.ts'

type Props = Pick<HomeSession, 'failure' | 'movedFrom' | 'dismissMove' | 'retry'> & { status: UserStatus }

/** What stands in the way of access, and what has changed. */
export function HomeBanners({ status, failure, movedFrom, dismissMove, retry }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      {failure ? (
        <Banner
          tone="warn"
          title={t('home.stale')}
          action={
            <Button size="sm" onClick={retry}>
              {t('kit.retry')}
            </Button>
          }
        />
      ) : null}
      {status.Licensed && status.UserLicensed ? null : (
        <Banner tone="danger" title={t(status.Licensed ? 'home.userUnlicensed' : 'home.unlicensed')}>
          {t('home.unlicensedText')}
        </Banner>
      )}
      {status.UntrustedProxy === null ? null : (
        <Banner tone="danger" title={t('home.untrustedProxy')}>
          {t('home.untrustedProxyText', { proxy: status.UntrustedProxy })}
        </Banner>
      )}
      {movedFrom === null ? null : (
        <Banner
          tone="accent"
          title={t('home.addressMoved', { from: movedFrom, to: status.CurrentAddress })}
          onDismiss={dismissMove}
        />
      )}
    </div>
  )
}
