import { Fingerprint } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { hasPasskeys, usePasskeyAct } from './use-passkey-act.ts'

type Props = {
  realm: 'user' | 'admin'
  /** The login form's 'public computer'; users only. */
  kioskMode?: boolean | undefined
  /** The session is complete and its cookie set; who is signed in is still to be read. */
  onDone: () => void
  /** For `errors.ofError`. */
  onError: (error: unknown) => void
}

/** Signs in with a passkey alone, for the login pages; nothing where the browser has no passkeys. */
export function PasskeySignInButton({ realm, kioskMode = false, ...outcome }: Props) {
  const { t } = useTranslation()
  const { isBusy, run } = usePasskeyAct(outcome)
  if (!hasPasskeys()) return null
  const signIn = async () => (await import('./passkey-ceremony.ts')).signInWithPasskey(realm, kioskMode)
  return (
    <Button size="lg" wide icon={Fingerprint} busy={isBusy} onClick={() => run(signIn)}>
      {t('passkeys.signIn')}
    </Button>
  )
}
