import { useState } from 'react'
import type { ServerSide } from './data-table.tsx'
import type { Sort } from './data-table-head.tsx'
import { useDebounced } from './use-debounced.ts'

const pageSize = 25

/**
 * Search, order and page of a table whose rows the server searches, orders and pages: `query` is what to ask for
 * now, `serverSide` makes the table's `server` of how many rows that finds. Another search or order begins at page one.
 */
export function useServerSide(initialSort: Sort) {
  const [search, setSearch] = useState('')
  const [sort, setSort] = useState<Sort | null>(initialSort)
  const [page, setPage] = useState(0)
  const query = {
    limit: pageSize,
    offset: page * pageSize,
    search: useDebounced(search.trim()),
    ...(sort ? { sort: `${sort.desc ? '-' : ''}${sort.id}` } : {}),
  }
  const serverSide = (total = 0): ServerSide => ({
    total,
    search,
    onSearch: (text) => {
      setSearch(text)
      setPage(0)
    },
    sort,
    onSort: (next) => {
      setSort(next)
      setPage(0)
    },
    page,
    pageSize,
    onPage: setPage,
  })
  return { query, serverSide }
}
