import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { passwordStrength } from './password-strength.ts'

const colours = ['text-danger', 'text-danger', 'text-warn', 'text-ok', 'text-ok'] as const

/** Five steps and a word under a new password. */
export function PasswordStrengthMeter({
  password,
  ownWords,
}: {
  password: string
  ownWords?: readonly string[]
}) {
  const { t } = useTranslation()
  const strength = passwordStrength(password, ownWords)
  return (
    <div className={cx('flex items-center gap-3 text-sm', password === '' && 'invisible')}>
      <span aria-hidden="true" className={cx('flex flex-1 gap-1', colours[strength])}>
        {[0, 1, 2, 3, 4].map((step) => (
          <span
            key={step}
            className={cx('h-1.5 flex-1 rounded-full', step <= strength ? 'bg-current' : 'bg-line')}
          />
        ))}
      </span>
      <output className="min-w-24 text-right font-medium text-ink">
        <span className="sr-only">{t('password.strength')}: </span>
        {t(`password.strength.${strength}`)}
      </output>
    </div>
  )
}
