import { cx } from './class-names.ts'

type Props = {
  label: string
  value: number
  max?: number | undefined
  tone?: 'accent' | 'ok' | 'warn' | 'danger' | undefined
}

const tones = {
  accent: 'text-accent',
  ok: 'text-ok',
  warn: 'text-warn',
  danger: 'text-danger',
}

/** How far something is. The element draws itself: inline styles are forbidden here. */
export function Progress({ label, value, max = 100, tone = 'accent' }: Props) {
  return (
    <progress
      aria-label={label}
      value={value}
      max={max}
      className={cx(
        'h-2 w-full appearance-none overflow-hidden rounded-full border-0 bg-sunken [&::-moz-progress-bar]:bg-current [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-current',
        tones[tone],
      )}
    />
  )
}
