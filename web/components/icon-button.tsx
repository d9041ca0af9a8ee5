import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, Ref } from 'react'
import { cx } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'aria-label' | 'children'> & {
  /** What it does; spoken, and shown as a tooltip. */
  label: string
  icon: LucideIcon
  tone?: 'neutral' | 'accent' | 'danger' | undefined
  /** Filled drawing, for something that is switched on. */
  filled?: boolean | undefined
  ref?: Ref<HTMLButtonElement> | undefined
}

const tones = { neutral: 'text-muted hover:text-ink', accent: 'text-accent-ink', danger: 'text-danger' }

/** A button that shows an icon only. */
export function IconButton({ label, icon: Icon, tone = 'neutral', filled, className, ...rest }: Props) {
  return (
    <Tooltip text={label} labels>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className={cx(
          'inline-flex size-10 shrink-0 items-center justify-center rounded-[10px] transition-colors duration-150 hover:bg-sunken disabled:cursor-not-allowed disabled:opacity-50',
          tones[tone],
          className,
        )}
      >
        <Icon aria-hidden="true" className={cx('size-[1.15rem]', filled && 'fill-current')} />
      </button>
    </Tooltip>
  )
}
