import type { ReactNode } from 'react'
import { Banner } from '../../components/banner.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'

type Props<Row> = {
  title: string
  query: { data: readonly Row[] | undefined; error: unknown }
  empty: string
  /** One `li`. */
  rowOf: (row: Row) => ReactNode
}

/** A short list with its heading inside a dialog: loading, failed, empty, or its rows. */
export function NamedList<Row>({ title, query: { data, error }, empty, rowOf }: Props<Row>) {
  const errors = useErrorText()
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-base font-bold text-ink">{title}</h3>
      {data === undefined ? (
        error ? (
          <Banner tone="danger" title={errors.ofError(error)} />
        ) : (
          <Skeleton className="h-10" />
        )
      ) : data.length === 0 ? (
        <p className="text-[0.9375rem] text-muted">{empty}</p>
      ) : (
        <ul className="divide-y divide-line rounded-xl border border-line">{data.map(rowOf)}</ul>
      )}
    </section>
  )
}
