import { useTranslation } from 'react-i18next'
import { Banner } from '../components/banner.tsx'
import type { AddressNews } from './address-news.ts'

/** Says in plain words what became of the session's addresses, one or several. Decision 14. */
export function AddressBanner({ news, onDismiss }: { news: readonly AddressNews[]; onDismiss: () => void }) {
  const { t } = useTranslation()
  const toText = (one: AddressNews): string => {
    if (one.kind === 'moved') return t('home.addressMoved', { from: one.from, to: one.to })
    if (one.kind === 'dropped') return t('home.addressDropped', { address: one.address })
    return t(one.kind === 'found' ? 'home.addressFound' : 'home.addressJoined', { address: one.address })
  }
  const [only, ...others] = news
  if (only === undefined) return null
  if (others.length === 0)
    return (
      <Banner
        tone="accent"
        title={<span className="wrap-anywhere">{toText(only)}</span>}
        onDismiss={onDismiss}
      />
    )
  return (
    <Banner tone="accent" title={t('home.addressesChanged')} onDismiss={onDismiss}>
      <ul className="flex flex-col gap-1 wrap-anywhere">
        {news.map((one) => (
          <li key={toText(one)}>{toText(one)}</li>
        ))}
      </ul>
    </Banner>
  )
}
