import { cx } from './class-names.ts'

/** A turning ring; says nothing by itself, the text beside it or `label` does. */
export function Spinner({
  label,
  className,
}: {
  label?: string | undefined
  className?: string | undefined
}) {
  return (
    <span role={label ? 'status' : undefined} className={cx('inline-flex', className ?? 'size-4')}>
      <svg viewBox="0 0 24 24" fill="none" aria-hidden="true" className="size-full animate-spin-slow">
        <circle cx="12" cy="12" r="9" stroke="currentColor" strokeOpacity="0.25" strokeWidth="3" />
        <path d="M21 12a9 9 0 0 0-9-9" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
      </svg>
      {label ? <span className="sr-only">{label}</span> : null}
    </span>
  )
}
