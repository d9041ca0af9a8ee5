import type { HTMLAttributes } from 'react'
import { cx } from './class-names.ts'

/** A raised surface; `flush` leaves the padding to what is inside. */
export function Card({
  flush,
  className,
  ...rest
}: HTMLAttributes<HTMLDivElement> & { flush?: boolean | undefined }) {
  return (
    <div
      {...rest}
      className={cx(
        'rounded-2xl border border-line bg-surface shadow-low',
        !flush && 'p-5 sm:p-6',
        className,
      )}
    />
  )
}
