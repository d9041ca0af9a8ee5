import { cx } from './class-names.ts'

/** A quiet place holder of what is being loaded; the region around it says 'Loading'. */
export function Skeleton({ className }: { className?: string | undefined }) {
  return (
    <span
      aria-hidden="true"
      className={cx('block animate-breathe rounded-lg bg-sunken', className ?? 'h-4 w-full')}
    />
  )
}
