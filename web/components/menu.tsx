import { Menu as HeadlessMenu, MenuButton, MenuItem, MenuItems } from '@headlessui/react'
import { EllipsisVertical, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type MenuAction = {
  label: string
  icon?: LucideIcon | undefined
  onSelect: () => void
  danger?: boolean | undefined
  disabled?: boolean | undefined
}

type Props = {
  /** What the actions belong to: 'Actions for fw-1'. */
  label: string
  items: readonly MenuAction[]
  /** What stands on the button; three dots unless told. */
  button?: ReactNode
  buttonClassName?: string | undefined
}

/** Actions behind one button. */
export function Menu({ label, items, button, buttonClassName }: Props) {
  return (
    <HeadlessMenu>
      <MenuButton
        aria-label={label}
        className={
          buttonClassName ??
          'inline-flex size-10 items-center justify-center rounded-[10px] text-muted hover:bg-sunken hover:text-ink'
        }
      >
        {button ?? <EllipsisVertical aria-hidden="true" className="size-[1.15rem]" />}
      </MenuButton>
      <MenuItems
        anchor={{ to: 'bottom end', gap: 6 }}
        className="z-40 min-w-52 rounded-xl border border-line bg-surface p-1.5 shadow-high"
      >
        {items.map(({ label: name, icon: Icon, onSelect, danger, disabled }) => (
          <MenuItem key={name} disabled={disabled ?? false}>
            <button
              type="button"
              onClick={onSelect}
              className={cx(
                'flex min-h-10 w-full items-center gap-2.5 rounded-lg px-3 text-left text-[0.9375rem] font-medium data-disabled:text-muted data-focus:bg-sunken',
                danger ? 'text-danger' : 'text-ink',
              )}
            >
              {Icon ? <Icon aria-hidden="true" className="size-4 shrink-0" /> : null}
              {name}
            </button>
          </MenuItem>
        ))}
      </MenuItems>
    </HeadlessMenu>
  )
}
