import { useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { loadStrengthCheck, type StrengthCheck } from './password-strength.ts'

const colours = ['text-danger', 'text-danger', 'text-warn', 'text-ok', 'text-ok'] as const

/**
 * Five steps and a word under a new password. What judges it is loaded with the first sign; until then, and when it
 * can't be loaded, the steps stay grey and no word stands there, in the same place.
 */
export function PasswordStrengthMeter({
  password,
  ownWords,
}: {
  password: string
  ownWords?: readonly string[]
}) {
  const { t } = useTranslation()
  const check = useStrengthCheck(password !== '')
  // Callers make the list anew with each render; it is the same words.
  const words = ownWords?.join('\n') ?? ''
  const strength = useMemo(() => check?.(password, words.split('\n')), [check, password, words])
  return (
    <div
      className={cx('flex min-h-5 items-center gap-3 text-sm', password === '' && 'invisible')}
      aria-busy={password !== '' && check === undefined}
    >
      <span
        aria-hidden="true"
        className={cx('flex flex-1 gap-1', strength !== undefined && colours[strength])}
      >
        {[0, 1, 2, 3, 4].map((step) => (
          <span
            key={step}
            className={cx(
              'h-1.5 flex-1 rounded-full',
              strength !== undefined && step <= strength ? 'bg-current' : 'bg-line',
            )}
          />
        ))}
      </span>
      <output className="min-w-24 text-right font-medium text-ink">
        {strength === undefined ? null : (
          <>
            <span className="sr-only">{t('password.strength')}: </span>
            {t(`password.strength.${strength}`)}
          </>
        )}
      </output>
    </div>
  )
}

/** The check, as soon as it is wanted and loaded. */
function useStrengthCheck(isWanted: boolean): StrengthCheck | undefined {
  const [check, setCheck] = useState<StrengthCheck>()
  useEffect(() => {
    if (!isWanted || check !== undefined) return undefined
    let isGone = false
    void loadStrengthCheck().then(
      (loaded) => {
        if (!isGone) setCheck(() => loaded)
      },
      // An aid, no rule: without it the form works.
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [isWanted, check])
  return check
}
