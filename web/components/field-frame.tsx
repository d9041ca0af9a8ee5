import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'

export type FieldTexts = {
  label: string
  description?: ReactNode
  /** Shown below and read with the field. Already translated. */
  error?: string | undefined
  /** Marks the field as optional, in words. */
  optional?: boolean | undefined
  /** Label for screen readers only. */
  labelHidden?: boolean | undefined
}

export type FieldWiring = {
  id: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
}

/** Label, description and error around one control, tied to it by aria. */
export function FieldFrame({
  label,
  description,
  error,
  optional,
  labelHidden,
  className,
  children,
}: FieldTexts & { className?: string | undefined; children: (wiring: FieldWiring) => ReactNode }) {
  const { t } = useTranslation()
  const id = useId()
  const describedBy = cx(description ? `${id}-description` : null, error ? `${id}-error` : null)
  return (
    <div className={cx('flex flex-col gap-1.5', className)}>
      <label htmlFor={id} className={labelHidden ? 'sr-only' : 'text-sm font-semibold text-ink'}>
        {label}
        {optional ? <span className="font-normal text-muted"> ({t('kit.optional')})</span> : null}
      </label>
      {children({
        id,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': describedBy || undefined,
      })}
      {description ? (
        <p id={`${id}-description`} className="text-sm text-muted">
          {description}
        </p>
      ) : null}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}

/** A field's error line. */
export function FieldError({ id, error }: { id: string; error: string | undefined }) {
  if (!error) return null
  return (
    <p id={id} className="flex items-start gap-1.5 text-sm font-medium text-danger">
      <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
      <span>{error}</span>
    </p>
  )
}
