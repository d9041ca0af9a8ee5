import { KeyRound, LogOut } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { UserStatus } from '#server/status/status.schema.ts'
import { Button } from '../components/button.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { BrandLogo } from '../shell/brand-logo.tsx'
import { ColourModeButton } from '../shell/colour-mode-button.tsx'

const ChangePasswordDialog = lazy(async () => ({
  default: (await import('./change-password-dialog.tsx')).ChangePasswordDialog,
}))

/** Logo, colours, password (local accounts only), log out. */
export function HomeHeader({ status, onLogout }: { status: UserStatus; onLogout: () => void }) {
  const { t } = useTranslation()
  const opener = useRef<HTMLButtonElement>(null)
  const [isChanging, setIsChanging] = useState(false)
  /** The dialog's file is loaded at the first use and the dialog kept, so that it can close softly. */
  const [wasAsked, setWasAsked] = useState(false)
  return (
    <header className="flex items-center justify-between gap-3">
      <BrandLogo />
      <div className="flex items-center gap-1">
        <ColourModeButton />
        {status.AuthType === 'local' ? (
          <IconButton
            ref={opener}
            icon={KeyRound}
            label={t('home.changePassword')}
            onClick={() => {
              setWasAsked(true)
              setIsChanging(true)
            }}
          />
        ) : null}
        <Button variant="quiet" icon={LogOut} onClick={onLogout}>
          {t('home.logout')}
        </Button>
      </div>
      {wasAsked ? (
        <Suspense>
          <ChangePasswordDialog
            open={isChanging}
            onClose={() => {
              setIsChanging(false)
              // The dialog's file came after the click, so the dialog doesn't know where focus was.
              setTimeout(() => opener.current?.focus())
            }}
            ownWords={[status.UserName, ...status.Name.split(/\s+/)]}
          />
        </Suspense>
      ) : null}
    </header>
  )
}
