import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'wouter'
import { cx } from '../../components/class-names.ts'
import { BrandLogo } from '../../shell/brand-logo.tsx'
import { isItemCurrent, sidebarItems } from './admin-sidebar-items.ts'

/** The console's navigation; `onNavigate` closes the drawer it may stand in. */
export function AdminSidebar({
  version,
  onNavigate,
}: {
  version: string | undefined
  onNavigate?: () => void
}) {
  const { t } = useTranslation()
  const [path] = useLocation()
  return (
    <div className="flex h-full flex-col gap-6 px-4 py-5">
      <Link
        href="/admin/home"
        onClick={onNavigate}
        className="flex w-fit max-w-full items-center gap-2.5 rounded-lg px-2"
      >
        <BrandLogo label={t('admin.nav.logo')} />
        <span className="rounded-md bg-accent-soft px-1.5 py-0.5 text-[0.6875rem] font-bold tracking-wide text-on-accent-soft uppercase">
          {t('admin.nav.console')}
        </span>
      </Link>
      <nav aria-label={t('admin.nav.label')}>
        <ul className="flex flex-col gap-1">
          {sidebarItems.map((item) => {
            const { path: href, label, icon: Icon } = item
            const isCurrent = isItemCurrent(item, path)
            return (
              <li key={href}>
                <Link
                  href={href}
                  onClick={onNavigate}
                  aria-current={isCurrent ? 'page' : undefined}
                  className={cx(
                    'flex min-h-11 items-center gap-3 rounded-xl px-3 text-[0.9375rem] font-semibold transition-colors duration-150',
                    isCurrent
                      ? 'bg-accent-soft text-on-accent-soft'
                      : 'text-muted hover:bg-sunken hover:text-ink',
                  )}
                >
                  <Icon aria-hidden="true" className="size-[1.15rem] shrink-0" />
                  {t(label)}
                </Link>
              </li>
            )
          })}
        </ul>
      </nav>
      {version ? (
        <p className="mt-auto px-3 text-xs text-muted">{t('admin.nav.version', { version })}</p>
      ) : null}
    </div>
  )
}
