import { Description, Field, Switch as HeadlessSwitch, Label } from '@headlessui/react'
import type { ReactNode } from 'react'

type Props = {
  label: string
  description?: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean | undefined
}

/** Something that is on or off, at once. */
export function Switch({ label, description, checked, onChange, disabled }: Props) {
  return (
    <Field disabled={disabled ?? false} className="flex items-start justify-between gap-4">
      <span className="flex flex-col">
        <Label className="cursor-pointer text-[0.9375rem] font-semibold text-ink">{label}</Label>
        {description ? <Description className="text-sm text-muted">{description}</Description> : null}
      </span>
      <HeadlessSwitch
        checked={checked}
        onChange={onChange}
        className="group relative mt-0.5 h-6 w-11 shrink-0 rounded-full border-2 border-control bg-sunken transition-colors duration-150 data-checked:border-accent data-checked:bg-accent data-disabled:cursor-not-allowed data-disabled:opacity-60"
      >
        <span
          aria-hidden="true"
          className="absolute top-0.5 left-0.5 size-4 rounded-full bg-control transition-transform duration-150 group-data-checked:translate-x-5 group-data-checked:bg-on-accent"
        />
      </HeadlessSwitch>
    </Field>
  )
}
