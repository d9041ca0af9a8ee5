import {
  Description,
  Field,
  Label,
  Listbox,
  ListboxButton,
  ListboxOption,
  ListboxOptions,
} from '@headlessui/react'
import { Check, ChevronsUpDown } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { cx } from './class-names.ts'
import { FieldError } from './field-frame.tsx'
import { inputClass } from './input.tsx'

export type SelectOption<T> = {
  value: T
  label: string
  description?: string | undefined
  disabled?: boolean | undefined
}

type Props<T> = {
  label: string
  labelHidden?: boolean | undefined
  description?: ReactNode
  error?: string | undefined
  placeholder?: string | undefined
  value: T | null
  onChange: (value: T) => void
  options: readonly SelectOption<T>[]
  disabled?: boolean | undefined
  className?: string | undefined
}

/** One of several, in a list that opens. */
export function Select<T extends string | number>(props: Props<T>) {
  const {
    label,
    labelHidden,
    description,
    error,
    placeholder,
    value,
    onChange,
    options,
    disabled,
    className,
  } = props
  const errorId = useId()
  const chosen = options.find((option) => option.value === value)
  return (
    <Field disabled={disabled ?? false} className={cx('flex flex-col gap-1.5', className)}>
      <Label className={labelHidden ? 'sr-only' : 'text-sm font-semibold text-ink'}>{label}</Label>
      <Listbox value={value as T} onChange={onChange} invalid={error !== undefined}>
        <ListboxButton
          aria-invalid={error ? true : undefined}
          className={cx(inputClass, 'flex items-center justify-between gap-2 text-left')}
        >
          <span className={cx('truncate', !chosen && 'text-muted')}>
            {chosen?.label ?? placeholder ?? '–'}
          </span>
          <ChevronsUpDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
        </ListboxButton>
        <ListboxOptions
          anchor={{ to: 'bottom start', gap: 6 }}
          className="z-40 max-h-72! w-(--button-width) overflow-auto rounded-xl border border-line bg-surface p-1.5 shadow-high"
        >
          {options.map((option) => (
            <ListboxOption
              key={option.value}
              value={option.value}
              disabled={option.disabled ?? false}
              className="group flex min-h-9 cursor-pointer items-center justify-between gap-3 rounded-lg px-2.5 py-1.5 text-[0.9375rem] text-ink data-disabled:cursor-not-allowed data-disabled:text-muted data-focus:bg-accent-soft data-focus:text-on-accent-soft"
            >
              <span className="flex min-w-0 flex-col">
                <span className="truncate group-data-selected:font-semibold">{option.label}</span>
                {option.description ? <span className="text-xs text-muted">{option.description}</span> : null}
              </span>
              <Check aria-hidden="true" className="invisible size-4 shrink-0 group-data-selected:visible" />
            </ListboxOption>
          ))}
        </ListboxOptions>
      </Listbox>
      {description ? <Description className="text-sm text-muted">{description}</Description> : null}
      <FieldError id={errorId} error={error} />
    </Field>
  )
}
