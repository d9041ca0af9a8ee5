import { type ChangeEvent, type Ref, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { TextField } from '../components/text-field.tsx'

type Props = {
  value: string
  onChange: (code: string) => void
  error?: string | undefined
  description?: string | undefined
  /** A recovery code may be typed as well: offers the keyboard for it. */
  takesRecoveryCode?: boolean | undefined
  autoFocus?: boolean | undefined
  ref?: Ref<HTMLInputElement> | undefined
}

/**
 * One field for a code of an authenticator app, or for a recovery code: phones show digits first, browsers offer
 * what they have received.
 */
export function CodeField({ value, onChange, takesRecoveryCode = false, description, ...rest }: Props) {
  const { t } = useTranslation()
  const [isLetters, setIsLetters] = useState(false)
  return (
    <div className="flex flex-col gap-2">
      <TextField
        {...rest}
        label={t('otp.code')}
        description={description ?? t(isLetters ? 'otp.recoveryText' : 'otp.codeText')}
        value={value}
        onChange={(event: ChangeEvent<HTMLInputElement>) => onChange(event.target.value)}
        name="code"
        autoComplete="one-time-code"
        inputMode={isLetters ? 'text' : 'numeric'}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={64}
      />
      {takesRecoveryCode ? (
        <button
          type="button"
          aria-pressed={isLetters}
          onClick={() => setIsLetters(!isLetters)}
          className="link inline-flex min-h-6 w-fit items-center rounded text-sm"
        >
          {t(isLetters ? 'otp.useApp' : 'otp.useRecovery')}
        </button>
      ) : null}
    </div>
  )
}
