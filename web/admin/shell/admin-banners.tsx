import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'wouter'
import { Banner } from '../../components/banner.tsx'
import { LinkButton } from '../../components/button.tsx'
import type { Tone } from '../../components/tone.ts'
import { isTextKey } from '../../i18n/start-i18n.ts'
import { pollMs, queries } from '../admin-queries.ts'
import { readDismissedBanners, writeDismissedBanners } from '../admin-session.ts'
import { AlarmBanners } from './alarm-banners.tsx'
import { type Banner as BannerFact, type BannerPlace, findBanner } from './banners.ts'

const tones: Record<BannerFact['tone'], Tone> = { danger: 'danger', warning: 'warn', info: 'accent' }
const places: Readonly<Record<string, BannerPlace>> = {
  '/admin/home': 'home',
  '/admin/groups': 'people',
  '/admin/users': 'people',
}
const settings = '/admin/settings'

/** What somebody has to look at now, standing warnings of the server, and below them one banner at a time. Console §1. */
export function AdminBanners() {
  const { t, i18n } = useTranslation()
  const [path] = useLocation()
  const status = useQuery({ ...queries.status, refetchInterval: pollMs.alarms }).data
  const agents = useQuery({ ...queries.agents, refetchInterval: pollMs.shell }).data
  const [dismissed, setDismissed] = useState(readDismissedBanners)
  if (status === undefined) return null
  const banner = findBanner({ status, agents: agents ?? [] }, places[path] ?? 'other', dismissed)
  const dismiss = (which: string) => {
    const next = [...dismissed, which]
    writeDismissedBanners(next)
    setDismissed(next)
  }
  const text = (key: string, values: BannerFact['values']) =>
    isTextKey(i18n, key, values) ? i18n.t(key, values) : undefined
  const warnings = status.Warnings.filter(({ Code }) => isTextKey(i18n, `warning.${Code}.title`))
  if (warnings.length === 0 && banner === undefined && status.Alarms.length === 0) return null
  return (
    <div className="flex flex-col gap-3">
      <AlarmBanners alarms={status.Alarms} />
      {warnings.map(({ Code, Extra }) => {
        const [title, body] = ['title', 'body'].map((part) =>
          text(`warning.${Code}.${part}`, { extra: Extra ?? '' }),
        )
        return redWarnings.includes(Code) ? (
          <Banner key={Code} tone="danger" title={title}>
            {body}
          </Banner>
        ) : (
          <p
            key={Code}
            className="flex items-start gap-2 rounded-xl bg-warn-soft px-4 py-2 text-sm text-warn"
          >
            <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
            <span>
              <strong>{title}.</strong> {body}
            </span>
          </p>
        )
      })}
      {banner ? (
        <Banner
          tone={tones[banner.tone]}
          title={text(`banner.${banner.text}.title`, banner.values)}
          onDismiss={() => dismiss(banner.text)}
          action={
            banner.link ? (
              <LinkButton size="sm" href={banner.link.url} target="_blank" rel="noreferrer">
                {t(`banner.link.${banner.link.linkText}`)}
              </LinkButton>
            ) : null
          }
        >
          {text(`banner.${banner.text}.body`, banner.values)}{' '}
          {banner.isForSettings && path !== settings ? (
            <Link href={settings} className="link">
              {t('banner.link.settings')}
            </Link>
          ) : null}
        </Banner>
      ) : null}
    </div>
  )
}

/** Nobody gets access as long as it stands: red. Decision 9. */
const redWarnings: readonly string[] = ['untrustedProxy']
