import { Eye, EyeOff } from 'lucide-react'
import { type InputHTMLAttributes, type Ref, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { inputClass } from './input.tsx'

/** A password input with a button that shows what was typed. */
export function PasswordInput({
  className,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> & { ref?: Ref<HTMLInputElement> | undefined }) {
  const { t } = useTranslation()
  const [isShown, setIsShown] = useState(false)
  const Icon = isShown ? EyeOff : Eye
  return (
    <div className="relative">
      <input
        {...rest}
        type={isShown ? 'text' : 'password'}
        autoCapitalize="none"
        spellCheck={false}
        className={cx(inputClass, 'pr-12', className)}
      />
      <button
        type="button"
        aria-label={t(isShown ? 'kit.hidePassword' : 'kit.showPassword')}
        aria-controls={rest.id}
        onClick={() => setIsShown(!isShown)}
        className="absolute inset-y-1 right-1 flex w-9 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
      >
        <Icon aria-hidden="true" className="size-[1.15rem]" />
      </button>
    </div>
  )
}
