import type { Context } from 'hono'
import type { Page } from '../page.ts'
import type { ListQuery } from '../wire.schema.ts'

/** A list: with `limit` asked for, the length of the whole one stands beside its page. */
export function listed<Row>(c: Context, { rows, total }: Page<Row>, { limit }: ListQuery) {
  const body: { data: Row[]; total?: number } = limit === undefined ? { data: rows } : { data: rows, total }
  return c.json(body, 200)
}
