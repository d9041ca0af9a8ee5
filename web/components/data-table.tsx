import {
  columnFilteringFeature,
  createFilteredRowModel,
  createSortedRowModel,
  globalFilteringFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { type ReactNode, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { nameOrder } from '../i18n/in-locale.ts'
import { cx } from './class-names.ts'
import { DataTableBody } from './data-table-body.tsx'
import { DataTableHead, type Sort } from './data-table-head.tsx'
import { DataTablePager } from './data-table-pager.tsx'
import { SearchField } from './search-field.tsx'

/** One column. */
export type DataColumn<Row> = {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** What the column is searched and sorted by. Without it the column is neither. */
  value?: ((row: Row) => string | number | boolean | null | undefined) | undefined
  /** False: searched only. In a server-side table: true makes the column sortable. */
  sortable?: boolean | undefined
  /** Heading for screen readers only: a column of buttons. */
  headerHidden?: boolean | undefined
  align?: 'start' | 'end' | undefined
  /** The heading of the row's card on narrow screens. One per table, usually the first. */
  isTitle?: boolean | undefined
}

/** Search, order and page kept by the caller, who asks the server: all of them together. */
export type ServerSide = {
  total: number
  search: string
  onSearch: (search: string) => void
  sort: Sort | null
  onSort: (sort: Sort | null) => void
  page: number
  pageSize: number
  onPage: (page: number) => void
}

type Props<Row> = {
  /** What the table holds; spoken. */
  label: string
  columns: readonly DataColumn<Row>[]
  /** Undefined while loading. */
  rows: readonly Row[] | undefined
  rowId: (row: Row) => string
  /** Why the rows could not be loaded. */
  error?: unknown
  onRetry?: (() => void) | undefined
  /** What stands there without rows: an EmptyState. */
  empty: ReactNode
  /** Label of the search box; without it there is none. */
  searchLabel?: string | undefined
  /** Buttons beside the search box. */
  toolbar?: ReactNode
  initialSort?: Sort | undefined
  pageSize?: number | undefined
  /** Greys the row. */
  isMuted?: ((row: Row) => boolean) | undefined
  onRowClick?: ((row: Row) => void) | undefined
  server?: ServerSide | undefined
}

const features = tableFeatures({
  columnFilteringFeature,
  globalFilteringFeature,
  rowSortingFeature,
  filteredRowModel: createFilteredRowModel(),
  sortedRowModel: createSortedRowModel(),
})

/**
 * The one table: sorting, search, paging, and its loading, empty and error states. Without room for its columns rows become cards.
 *
 * Without `server` it works on the rows it has; with it the caller's query does, and the table only shows.
 */
export function DataTable<Row extends object>(props: Props<Row>) {
  const { label, columns, rows, rowId, searchLabel, toolbar, initialSort, pageSize = 25, server } = props
  const { t, i18n } = useTranslation()
  const [localSearch, setLocalSearch] = useState('')
  const [localSort, setLocalSort] = useState<Sort | null>(initialSort ?? null)
  const [localPage, setLocalPage] = useState(0)
  const [size, setSize] = useState(pageSize)
  const search = server?.search ?? localSearch
  const sort = server ? server.sort : localSort

  const table = useTable({
    features,
    data: rows ?? none,
    columns: useMemo(() => toColumnDefs(columns, i18n.language), [columns, i18n.language]),
    getRowId: rowId,
    manualFiltering: server !== undefined,
    manualSorting: server !== undefined,
    enableSortingRemoval: false,
    globalFilterFn: (row, columnId, wanted: string) => textOf(row.getValue(columnId)).includes(wanted),
    getColumnCanGlobalFilter: (column) =>
      columns.some(({ id, value }) => id === column.id && value !== undefined),
    state: {
      globalFilter: server ? '' : search.trim().toLowerCase(),
      sorting: sort ? [sort] : [],
    },
  })
  const total = server ? server.total : table.getFilteredRowModel().rows.length
  const pages = Math.max(1, Math.ceil(total / (server?.pageSize ?? size)))
  const page = Math.min(server?.page ?? localPage, pages - 1)
  const shown = server ? table.getCoreRowModel().rows : pageOf(table.getSortedRowModel().rows, page, size)

  const onSearch = (text: string) => {
    if (server) return server.onSearch(text)
    setLocalSearch(text)
    setLocalPage(0)
  }
  return (
    <section
      aria-label={label}
      className={cx(
        'flex flex-col gap-4',
        columns.length > manyColumns ? '@container/many' : '@container/few',
      )}
    >
      {searchLabel || toolbar ? (
        <div className="flex flex-col gap-3 sm:flex-row sm:items-center sm:justify-between">
          {searchLabel ? (
            <SearchField label={searchLabel} value={search} onChange={onSearch} className="sm:w-80" />
          ) : (
            <span />
          )}
          <div className="flex flex-wrap gap-2">{toolbar}</div>
        </div>
      ) : null}
      <div className="relative overflow-x-auto rounded-2xl border border-line bg-surface shadow-low cards:border-0 cards:bg-transparent cards:shadow-none">
        <table
          aria-label={label}
          aria-busy={rows === undefined}
          className="w-full border-collapse text-left text-[0.9375rem] cards:block"
        >
          <DataTableHead
            columns={columns}
            sort={sort}
            onSort={server ? server.onSort : setLocalSort}
            isServerSide={server !== undefined}
          />
          <DataTableBody
            {...props}
            rows={rows && shown.map((row) => row.original)}
            isFiltered={search.trim() !== ''}
          />
        </table>
      </div>
      {rows !== undefined && total > 0 ? (
        <DataTablePager
          page={page}
          pages={pages}
          onPage={server ? server.onPage : setLocalPage}
          summary={t('kit.rows', { count: total })}
          size={server || total <= smallestPage ? undefined : size}
          onSize={(next) => {
            setSize(next)
            setLocalPage(0)
          }}
        />
      ) : null}
    </section>
  )
}

/** More columns than this need the room that `cards` and `rows` in app.css give to many. */
const manyColumns = 4

/** Fewer rows than this need no choice of page size. */
const smallestPage = 10

const none: never[] = []

type Values = { getValue: (columnId: string) => unknown }

const toColumnDefs = <Row extends object>(columns: readonly DataColumn<Row>[], locale: string) => {
  const byName = nameOrder(locale)
  const compare = (one: unknown, other: unknown): number =>
    typeof one === 'number' && typeof other === 'number' ? one - other : byName(textOf(one), textOf(other))
  return columns.map(({ id, header, value, sortable }) => ({
    id,
    header,
    accessorFn: (row: Row) => value?.(row) ?? undefined,
    enableSorting: value !== undefined && sortable !== false,
    sortUndefined: 'last' as const,
    sortFn: (one: Values, other: Values, columnId: string) =>
      compare(one.getValue(columnId), other.getValue(columnId)),
  }))
}

/** Cells hold what DataColumn.value gives: text, numbers, flags, or nothing. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).toLowerCase()
    : ''

const pageOf = <T,>(rows: readonly T[], page: number, size: number): readonly T[] =>
  rows.slice(page * size, (page + 1) * size)
