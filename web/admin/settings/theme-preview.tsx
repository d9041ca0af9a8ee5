import { BookText, Home, Server, Users } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { Logo } from '../../components/logo.tsx'
import { logoFor } from '../../shell/logo-for.ts'
import type { BrandingValues } from './logo-field.tsx'

type Props = BrandingValues & { mode: 'light' | 'dark' }

/** Portal and console in miniature, as they will look in one colour mode. */
export function ThemePreview({ mode, Accent, HighAccessibility, ...logos }: Props) {
  const { t } = useTranslation()
  const address = logoFor(
    { Logo: logos.Logo || null, LightModeLogo: logos.LightModeLogo || null },
    mode === 'dark',
  )
  return (
    <figure className="flex min-w-0 flex-col gap-1.5">
      <figcaption className="text-sm font-semibold text-ink">
        {t(`admin.branding.preview.${mode}`)}
      </figcaption>
      <div
        aria-hidden="true"
        data-accent={Accent}
        data-mode={mode}
        data-contrast={HighAccessibility ? 'high' : 'normal'}
        className="themed grid grow gap-px overflow-hidden rounded-xl border border-line bg-line text-xs text-ink select-none sm:grid-cols-2"
      >
        <PortalSketch address={address} />
        <ConsoleSketch address={address} />
      </div>
    </figure>
  )
}

function PortalSketch({ address }: { address: string | null }) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-3 bg-page p-3">
      <div className="flex items-center justify-between gap-2">
        <SmallLogo address={address} />
        <span className="size-4 rounded-full border-2 border-control" />
      </div>
      <div className="flex flex-col gap-2.5 rounded-lg border border-line bg-surface p-2.5 shadow-low">
        <div className="flex gap-2.5">
          <span className="flex h-10 w-8 shrink-0 items-center justify-center rounded-t-2xl rounded-b-sm border-2 border-accent bg-accent-soft text-accent-ink">
            <BookText className="size-4" />
          </span>
          <span className="flex min-w-0 flex-1 flex-col gap-1.5 pt-1">
            <span className="font-bold">Wiki</span>
            <span className="w-fit rounded-md bg-ok-soft px-1.5 font-semibold text-ok">
              {t('entry.accessFor', { time: '02:15' })}
            </span>
          </span>
        </div>
        <span className="rounded-lg bg-accent px-2 py-1.5 text-center font-semibold text-on-accent">
          {t('entry.grant')}
        </span>
      </div>
    </div>
  )
}

const items = [
  [Home, 'admin.nav.home'],
  [Server, 'admin.nav.knocs'],
  [Users, 'admin.nav.users'],
] as const

function ConsoleSketch({ address }: { address: string | null }) {
  const { t } = useTranslation()
  return (
    <div className="grid min-h-36 grid-cols-[minmax(0,6.5rem)_minmax(0,1fr)] bg-page">
      <div className="flex flex-col gap-1.5 border-r border-line bg-surface p-2.5">
        <SmallLogo address={address} />
        <ul className="mt-1.5 flex flex-col gap-0.5">
          {items.map(([Icon, label], index) => (
            <li
              key={label}
              className={cx(
                'flex items-center gap-1.5 rounded-md px-1.5 py-1 font-semibold',
                index === 1 ? 'bg-accent-soft text-on-accent-soft' : 'text-muted',
              )}
            >
              <Icon className="size-3 shrink-0" />
              <span className="truncate">{t(label)}</span>
            </li>
          ))}
        </ul>
      </div>
      <div className="flex flex-col gap-2 p-2.5">
        <span className="text-sm font-bold">{t('admin.nav.knocs')}</span>
        <div className="flex flex-col divide-y divide-line rounded-md border border-line bg-surface">
          {['w-3/4', 'w-1/2', 'w-2/3'].map((width) => (
            <span key={width} className="flex h-6 items-center px-2">
              <span className={cx('h-1.5 rounded-full bg-muted', width)} />
            </span>
          ))}
        </div>
        <span className="text-accent-ink underline">{t('admin.docs')}</span>
      </div>
    </div>
  )
}

const SmallLogo = ({ address }: { address: string | null }) =>
  address === null ? (
    <Logo className="h-5" />
  ) : (
    <img src={address} alt="" className="h-5 w-24 min-w-0 object-contain object-left" />
  )
