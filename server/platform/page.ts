import { type RawBuilder, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { ListQuery } from './wire.schema.ts'

/** A part of a list, and how long the whole one is. */
export type Page<Row> = { rows: Row[]; total: number }

/** What a list may be sorted by: the wire's name of the column, and its SQL. */
export type SortColumns = Readonly<Record<string, RawBuilder<unknown>>>

/**
 * The order and window of a list, for `order by ${order}` and `${limits}`. Ties are broken by `id`, so that
 * paging shows no row twice.
 *
 * @throws err.invalidField for a column that isn't one of `columns`.
 */
export function toPageSql(
  { limit, offset, sort }: ListQuery,
  { columns, fallback, id }: { columns: SortColumns; fallback: string; id: RawBuilder<unknown> },
): { order: RawBuilder<unknown>; limits: RawBuilder<unknown> } {
  const wanted = sort ?? fallback
  const name = wanted.replace(/^-/, '')
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (column === undefined) throw apiError('err.invalidField', { extra: 'sort' })
  const direction = sql.raw(wanted.startsWith('-') ? 'desc nulls last' : 'asc nulls first')
  return {
    order: sql`${column} ${direction}, ${id}`,
    limits: sql`limit ${limit ?? null}::bigint offset ${offset ?? 0}::bigint`,
  }
}

/** A search text as a pattern for `ilike`: found anywhere, with nothing in it having a meaning. */
export const toLikePattern = (search: string): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`

/** Rows that carry the whole list's length, as a page. */
export const toPage = <Row extends { total: number }, Out>(
  rows: readonly Row[],
  toOut: (row: Row) => Out,
): Page<Out> => ({ rows: rows.map(toOut), total: rows[0]?.total ?? 0 })
