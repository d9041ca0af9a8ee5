import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import { cx } from './class-names.ts'
import type { DataColumn } from './data-table.tsx'

export type Sort = { id: string; desc: boolean }

type Props<Row> = {
  columns: readonly DataColumn<Row>[]
  sort: Sort | null
  onSort: (sort: Sort) => void
  isServerSide: boolean
}

/** Headings; those of sortable columns are buttons. Where there is little room they become a row of buttons above the cards. */
export function DataTableHead<Row>({ columns, sort, onSort, isServerSide }: Props<Row>) {
  return (
    <thead className="border-b border-line cards:block cards:border-0">
      <tr className="cards:flex cards:flex-wrap cards:gap-2 cards:pb-3">
        {columns.map((column) => {
          const { id, header, headerHidden, align } = column
          const order = sort?.id === id ? (sort.desc ? 'descending' : 'ascending') : undefined
          const isSortable = canSort(column, isServerSide)
          return (
            <th
              key={id}
              scope="col"
              aria-sort={isSortable ? (order ?? 'none') : undefined}
              className={cx(
                'px-4 py-2.5 text-sm font-semibold text-muted first:pl-5 last:pr-5 cards:p-0 cards:first:pl-0',
                align === 'end' && 'text-right',
                !isSortable && 'cards:sr-only',
              )}
            >
              {isSortable ? (
                <button
                  type="button"
                  onClick={() => onSort({ id, desc: order === 'ascending' })}
                  className={cx(
                    '-mx-2 inline-flex min-h-8 items-center gap-1.5 rounded-lg px-2 text-left hover:bg-sunken hover:text-ink cards:mx-0 cards:border cards:border-line cards:bg-surface cards:px-3',
                    order && 'text-ink',
                  )}
                >
                  {header}
                  <SortMark order={order} />
                </button>
              ) : (
                <span className={headerHidden ? 'sr-only' : undefined}>{header}</span>
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

const canSort = <Row,>({ value, sortable }: DataColumn<Row>, isServerSide: boolean): boolean =>
  isServerSide ? sortable === true : value !== undefined && sortable !== false

function SortMark({ order }: { order: 'ascending' | 'descending' | undefined }) {
  const Icon = order === undefined ? ChevronsUpDown : order === 'ascending' ? ArrowUp : ArrowDown
  return <Icon aria-hidden="true" className="size-3.5 shrink-0" />
}
