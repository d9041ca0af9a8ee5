import { BadgeX } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { buttonClass, LinkButton } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { EmptyState } from '../../components/empty-state.tsx'

/** What stands in place of a wizard without a licence; the link only where there is a licence site. Console §2. */
export function NoLicence({ site }: { site: string | null }) {
  const { t } = useTranslation()
  return (
    <Card role="alert" flush>
      <EmptyState
        icon={BadgeX}
        title={t('admin.noLicence.title')}
        text={t('admin.noLicence.text')}
        action={
          <div className="flex flex-wrap justify-center gap-2">
            {site === null ? null : (
              <LinkButton href={site} target="_blank" rel="noreferrer" variant="primary">
                {t('banner.link.licence')}
              </LinkButton>
            )}
            <Link href="/admin/settings" className={buttonClass({})}>
              {t('admin.noLicence.settings')}
            </Link>
          </div>
        }
      />
    </Card>
  )
}
