import type { ReactNode } from 'react'

/** One thing and what is so of it; left out when the value is null. */
export type Fact = { label: string; value: ReactNode }

/** Facts in two columns, names and values. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-[minmax(9rem,auto)_1fr]">
      {facts
        .filter(({ value }) => value !== null)
        .map(({ label, value }) => (
          <div key={label} className="contents">
            <dt className="text-sm font-medium text-muted max-sm:-mb-2.5">{label}</dt>
            <dd className="min-w-0 text-[0.9375rem] break-words text-ink">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
