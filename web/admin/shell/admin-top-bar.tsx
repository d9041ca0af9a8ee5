import { useQuery } from '@tanstack/react-query'
import {
  ChevronDown,
  Fingerprint,
  KeyRound,
  LogOut,
  Menu as MenuIcon,
  ShieldAlert,
  UserRound,
} from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { Button } from '../../components/button.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Menu } from '../../components/menu.tsx'
import { BrandLogo } from '../../shell/brand-logo.tsx'
import { ColourModeButton } from '../../shell/colour-mode-button.tsx'
import { queries } from '../admin-queries.ts'
import { adminRoutes } from '../admin-route-table.ts'
import { hasDeferred } from '../sign-in-step.ts'
import { PasswordDialog } from './password-dialog.tsx'
import { useLogout } from './use-logout.ts'

/** Few open it: it is loaded with the first use. */
const PasskeysDialog = lazy(async () => ({
  default: (await import('../../passkeys/passkeys-dialog.tsx')).PasskeysDialog,
}))

/** Who is signed in, the colours, the own password and passkeys, and the way out. */
export function AdminTopBar({ onMenu }: { onMenu: () => void }) {
  const { t } = useTranslation()
  const status = useQuery(queries.status).data
  const logout = useLogout()
  const [, navigate] = useLocation()
  const [isPasswordOpen, setIsPasswordOpen] = useState(false)
  const [passkeys, setPasskeys] = useState<'unused' | 'open' | 'closed'>('unused')
  const isOurs = status?.AuthType === 'local' || status?.AuthType === 'LDAP'
  const isReminded = status !== undefined && hasDeferred(status)
  const enrol = () => navigate(adminRoutes.steps.enrolling)
  const name = status?.Name || status?.UserName || ''
  return (
    <header className="sticky top-0 z-20 flex min-h-16 items-center gap-2 border-b border-line bg-page px-3 sm:px-6 lg:px-8">
      <IconButton icon={MenuIcon} label={t('admin.nav.open')} onClick={onMenu} className="lg:hidden" />
      <div className="flex max-w-44 min-w-0 flex-1 lg:hidden">
        <BrandLogo className="h-6" label={t('admin.nav.logo')} />
      </div>
      <div className="ml-auto flex min-w-0 items-center gap-1">
        {isReminded ? (
          <Button size="sm" icon={ShieldAlert} onClick={enrol} className="text-warn! max-sm:hidden">
            {t('admin.totp.remind')}
          </Button>
        ) : null}
        <ColourModeButton />
        <Menu
          label={t('admin.account', { name })}
          buttonClassName="inline-flex min-h-10 min-w-0 items-center gap-2 rounded-[10px] px-2.5 text-[0.9375rem] font-semibold text-ink hover:bg-sunken"
          button={
            <>
              <span className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent-soft text-on-accent-soft">
                <UserRound aria-hidden="true" className="size-4" />
              </span>
              <span className="max-w-40 truncate max-sm:hidden">{name}</span>
              <ChevronDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
            </>
          }
          items={[
            ...(isReminded ? [{ label: t('admin.totp.remind'), icon: ShieldAlert, onSelect: enrol }] : []),
            ...(status?.AuthType === 'local'
              ? [{ label: t('password.title'), icon: KeyRound, onSelect: () => setIsPasswordOpen(true) }]
              : []),
            ...(isOurs
              ? [{ label: t('admin.passkeys'), icon: Fingerprint, onSelect: () => setPasskeys('open') }]
              : []),
            { label: t('admin.logout'), icon: LogOut, onSelect: () => logout.mutate() },
          ]}
        />
      </div>
      {passkeys === 'unused' ? null : (
        <Suspense>
          <PasskeysDialog realm="admin" open={passkeys === 'open'} onClose={() => setPasskeys('closed')} />
        </Suspense>
      )}
      <PasswordDialog open={isPasswordOpen} onClose={() => setIsPasswordOpen(false)} />
    </header>
  )
}
