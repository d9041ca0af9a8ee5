import { Fingerprint } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { hasPasskeys, usePasskeyAct } from './use-passkey-act.ts'

type Props = {
  realm: 'user' | 'admin'
  /** The session is complete and its cookie set. */
  onDone: () => void
  /** For `errors.ofError`. */
  onError: (error: unknown) => void
}

/** The second step with one of the account's passkeys; nothing where the browser has no passkeys. */
export function PasskeyStepButton({ realm, ...outcome }: Props) {
  const { t } = useTranslation()
  const { isBusy, run } = usePasskeyAct(outcome)
  if (!hasPasskeys()) return null
  const verify = async () => (await import('./passkey-ceremony.ts')).verifyStepWithPasskey(realm)
  return (
    <Button size="lg" wide icon={Fingerprint} busy={isBusy} onClick={() => run(verify)}>
      {t('passkeys.step')}
    </Button>
  )
}
