import { cx } from './class-names.ts'

/** The product's mark: a door ajar in its frame. */
export function DoorMark({ className }: { className?: string | undefined }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={className}>
      <path
        d="M6 28V7a4 4 0 0 1 4-4h12a4 4 0 0 1 4 4v21"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
      <path d="M6.200 5.600 18 9.300v17.600L6.200 29z" fill="currentColor" />
      <circle cx="14.800" cy="18.200" r="1.500" className="fill-(--door-knob,var(--surface))" />
    </svg>
  )
}

/** Mark and name in one drawing; `label` is what screen readers say. */
export function Logo({
  className,
  label = 'Knoc',
}: {
  className?: string | undefined
  label?: string | undefined
}) {
  return (
    <svg viewBox="0 0 118 32" role="img" aria-label={label} className={cx('h-7 w-auto', className)}>
      <g className="text-accent-ink">
        <path
          d="M4 28V7a4 4 0 0 1 4-4h11a4 4 0 0 1 4 4v21"
          fill="none"
          stroke="currentColor"
          strokeWidth="2.600"
          strokeLinecap="round"
        />
        <path d="M4.200 5.600 15.400 9.200v17.800L4.200 29z" fill="currentColor" />
        <circle cx="12.400" cy="18.200" r="1.400" className="fill-surface" />
      </g>
      <g
        fill="none"
        stroke="currentColor"
        strokeWidth="3.400"
        strokeLinecap="round"
        strokeLinejoin="round"
        className="text-ink"
      >
        <path d="M36 7v19M46.500 13.200 37.500 20M40.500 17.800 47 26" />
        <path d="M54 26V13.500M54 19.200a5.200 5.200 0 0 1 10.400 0V26" />
        <circle cx="78.400" cy="19.700" r="6.300" />
        <path d="M103.200 15.200a6.300 6.300 0 1 0 0 9" />
      </g>
    </svg>
  )
}
