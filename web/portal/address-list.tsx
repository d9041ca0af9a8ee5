import { MapPin } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { UserStatus } from '#server/status/status.schema.ts'
import { addressesOf } from './address-news.ts'

/** From where somebody has access: the address of each family, and what lookups found beside. */
export function AddressList({ status }: { status: UserStatus }) {
  const { t } = useTranslation()
  const held = addressesOf(status)
  const own = [status.CurrentAddress, ...held.filter(({ Source }) => Source === 'own').map(({ IP }) => IP)]
  const further = held.filter(({ Source, IP }) => Source !== 'own' && !own.includes(IP))
  return (
    <>
      <div className="flex items-start gap-2 lg:justify-center">
        <MapPin aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-accent-ink" />
        <ul aria-label={t('home.addresses')} className="font-mono font-semibold wrap-anywhere text-ink">
          {[...new Set(own)].map((IP) => (
            <li key={IP}>{IP}</li>
          ))}
        </ul>
      </div>
      {further.length > 0 ? (
        <p className="mt-1.5 text-muted lg:text-center">
          {t('home.alsoOpenFor')}{' '}
          <span className="font-mono wrap-anywhere text-ink">{further.map(({ IP }) => IP).join(', ')}</span>
        </p>
      ) : null}
    </>
  )
}
