import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from 'react'
import { cx } from './class-names.ts'
import { FieldError } from './field-frame.tsx'

type Props = Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> & {
  label: ReactNode
  description?: ReactNode
  error?: string | undefined
  ref?: Ref<HTMLInputElement> | undefined
}

/** A labelled checkbox. Takes `{...register('Flag')}` of react-hook-form. */
export function Checkbox({ label, description, error, className, ...rest }: Props) {
  const id = useId()
  const describedBy = cx(description ? `${id}-description` : null, error ? `${id}-error` : null)
  return (
    <div className={cx('flex flex-col gap-1', className)}>
      <label className="flex min-h-6 cursor-pointer items-start gap-3 has-disabled:cursor-not-allowed">
        <input
          {...rest}
          type="checkbox"
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy || undefined}
          className="mt-0.5 size-5 shrink-0 cursor-[inherit] rounded accent-accent"
        />
        <span className="text-[0.9375rem] text-ink">{label}</span>
      </label>
      {description ? (
        <p id={`${id}-description`} className="pl-8 text-sm text-muted">
          {description}
        </p>
      ) : null}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}
