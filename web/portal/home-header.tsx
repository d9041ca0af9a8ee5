import { Fingerprint, KeyRound, LogOut, type LucideIcon } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { UserStatus } from '#server/status/status.schema.ts'
import { Button } from '../components/button.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { BrandLogo } from '../shell/brand-logo.tsx'
import { ColourModeButton } from '../shell/colour-mode-button.tsx'

const ChangePasswordDialog = lazy(async () => ({
  default: (await import('./change-password-dialog.tsx')).ChangePasswordDialog,
}))
const PasskeysDialog = lazy(async () => ({
  default: (await import('../passkeys/passkeys-dialog.tsx')).PasskeysDialog,
}))

/** Logo, colours, password (local accounts), passkeys (those and the directory's, in private), log out. */
export function HomeHeader({ status, onLogout }: { status: UserStatus; onLogout: () => void }) {
  const { t } = useTranslation()
  const isLocal = status.AuthType === 'local'
  const mayHavePasskeys = (isLocal || status.AuthType === 'LDAP') && !status.Kiosk
  return (
    <header className="flex items-center justify-between gap-x-3">
      <BrandLogo />
      <div className="flex items-center gap-1">
        <ColourModeButton />
        {isLocal ? (
          <DialogButton icon={KeyRound} label={t('home.changePassword')}>
            {(dialog) => (
              <ChangePasswordDialog {...dialog} ownWords={[status.UserName, ...status.Name.split(/\s+/)]} />
            )}
          </DialogButton>
        ) : null}
        {mayHavePasskeys ? (
          <DialogButton icon={Fingerprint} label={t('passkeys.title')}>
            {(dialog) => <PasskeysDialog {...dialog} realm="user" />}
          </DialogButton>
        ) : null}
        <Button variant="quiet" icon={LogOut} onClick={onLogout} className="max-sm:w-10 max-sm:px-0">
          <span className="max-sm:sr-only">{t('home.logout')}</span>
        </Button>
      </div>
    </header>
  )
}

/** A button and its dialog, whose file is loaded at the first use, and which is kept then so that it closes softly. */
function DialogButton({
  icon,
  label,
  children,
}: {
  icon: LucideIcon
  label: string
  children: (dialog: { open: boolean; onClose: () => void }) => ReactNode
}) {
  const [asked, setAsked] = useState<{ open: boolean; opener: HTMLElement } | null>(null)
  const onClose = () => setAsked((before) => before && { ...before, open: false })
  useEffect(() => {
    if (asked === null || asked.open) return undefined
    // The dialog's file came after the click, so the dialog doesn't know where focus was; and the page has to be
    // free of the dialog first.
    const timer = setTimeout(() => asked.opener.focus())
    return () => clearTimeout(timer)
  }, [asked])
  return (
    <>
      <IconButton
        icon={icon}
        label={label}
        onClick={({ currentTarget }) => setAsked({ open: true, opener: currentTarget })}
      />
      {asked ? <Suspense>{children({ open: asked.open, onClose })}</Suspense> : null}
    </>
  )
}
