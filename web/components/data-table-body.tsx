import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../i18n/use-error-text.ts'
import { Banner } from './banner.tsx'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import type { DataColumn } from './data-table.tsx'
import { Skeleton } from './skeleton.tsx'

type Props<Row> = {
  columns: readonly DataColumn<Row>[]
  rows: readonly Row[] | undefined
  rowId: (row: Row) => string
  error?: unknown
  onRetry?: (() => void) | undefined
  empty: ReactNode
  isFiltered: boolean
  isMuted?: ((row: Row) => boolean) | undefined
  onRowClick?: ((row: Row) => void) | undefined
}

/** Rows, or what stands in their place: why there are none, or that they are coming. */
export function DataTableBody<Row>(props: Props<Row>) {
  const { columns, rows, error, onRetry, empty, isFiltered } = props
  const { t } = useTranslation()
  const errors = useErrorText()
  if (error && rows === undefined)
    return (
      <Whole columns={columns.length}>
        <Banner
          tone="danger"
          title={errors.ofError(error)}
          action={
            onRetry ? (
              <Button size="sm" onClick={onRetry}>
                {t('kit.retry')}
              </Button>
            ) : null
          }
        />
      </Whole>
    )
  if (rows === undefined) return <Loading columns={columns.length} />
  if (rows.length === 0)
    return (
      <Whole columns={columns.length}>
        {isFiltered ? <p className="py-8 text-center text-muted">{t('kit.noMatches')}</p> : empty}
      </Whole>
    )
  return (
    <tbody className="cards:flex cards:flex-col cards:gap-3">{rows.map((row) => toRow(row, props))}</tbody>
  )
}

const toRow = <Row,>(row: Row, { columns, rowId, isMuted, onRowClick }: Props<Row>) => (
  <tr
    key={rowId(row)}
    onClick={onRowClick ? () => onRowClick(row) : undefined}
    className={cx(
      'border-b border-line last:border-b-0 cards:relative cards:flex cards:flex-col cards:gap-2 cards:rounded-2xl cards:border cards:bg-surface cards:p-4 cards:shadow-low cards:last:border-b',
      isMuted?.(row) && 'text-muted',
      onRowClick && 'cursor-pointer hover:bg-sunken',
    )}
  >
    {columns.map(({ id, header, headerHidden, cell, align, isTitle }) => (
      <td
        key={id}
        className={cx(
          'px-4 py-2.5 align-middle first:pl-5 last:pr-5 cards:flex cards:items-baseline cards:justify-between cards:gap-4 cards:p-0 cards:first:pl-0 cards:last:pr-0 cards:*:whitespace-normal',
          align === 'end' && 'text-right',
          isTitle ? 'font-semibold cards:order-first cards:pr-10! cards:text-base' : 'cards:text-right',
          // On a card the buttons stand in its corner.
          headerHidden && 'cards:absolute cards:top-2 cards:right-2',
        )}
      >
        {headerHidden || isTitle ? null : (
          <span aria-hidden="true" className="shrink-0 text-sm font-medium text-muted rows:hidden">
            {header}
          </span>
        )}
        {cell(row)}
      </td>
    ))}
  </tr>
)

function Whole({ columns, children }: { columns: number; children: ReactNode }) {
  return (
    <tbody className="cards:block">
      <tr className="cards:block cards:rounded-2xl cards:border cards:border-line cards:bg-surface">
        <td colSpan={columns} className="p-4 cards:block">
          {children}
        </td>
      </tr>
    </tbody>
  )
}

function Loading({ columns }: { columns: number }) {
  const { t } = useTranslation()
  return (
    <tbody className="cards:block">
      {[0, 1, 2, 3].map((row) => (
        <tr key={row} className="border-b border-line last:border-b-0 cards:block">
          <td colSpan={columns} className="px-5 py-3.5 cards:block">
            {row === 0 ? <output className="sr-only">{t('kit.loading')}</output> : null}
            <Skeleton className="h-5 w-full" />
          </td>
        </tr>
      ))}
    </tbody>
  )
}
