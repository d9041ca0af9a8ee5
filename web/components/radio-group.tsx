import { Description, Field, RadioGroup as HeadlessRadioGroup, Label, Radio } from '@headlessui/react'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type RadioOption<T> = {
  value: T
  label: string
  description?: ReactNode
  disabled?: boolean | undefined
}

type Props<T> = {
  label: string
  labelHidden?: boolean | undefined
  value: T
  onChange: (value: T) => void
  options: readonly RadioOption<T>[]
  className?: string | undefined
}

/** One of a few, all visible. */
export function RadioGroup<T extends string | number | boolean>({
  label,
  labelHidden,
  value,
  onChange,
  options,
  className,
}: Props<T>) {
  return (
    <Field className={cx('flex flex-col gap-2', className)}>
      <Label className={labelHidden ? 'sr-only' : 'text-sm font-semibold text-ink'}>{label}</Label>
      <HeadlessRadioGroup value={value} onChange={onChange} className="flex flex-col gap-2">
        {options.map((option) => (
          <Field
            key={String(option.value)}
            disabled={option.disabled ?? false}
            className="flex items-start gap-3 rounded-xl border border-line bg-surface px-3.5 py-3 has-data-checked:border-accent has-data-checked:bg-accent-soft data-disabled:opacity-60"
          >
            <Radio
              value={option.value}
              className="group mt-0.5 flex size-5 shrink-0 cursor-pointer items-center justify-center rounded-full border-2 border-control bg-surface data-checked:border-accent"
            >
              <span className="invisible size-2.5 rounded-full bg-accent group-data-checked:visible" />
            </Radio>
            <span className="flex flex-col">
              <Label className="cursor-pointer text-[0.9375rem] font-semibold text-ink">{option.label}</Label>
              {option.description ? (
                <Description className="text-sm text-muted">{option.description}</Description>
              ) : null}
            </span>
          </Field>
        ))}
      </HeadlessRadioGroup>
    </Field>
  )
}
