import type { Context } from 'hono'

/** A success as the specification wraps it: `{"data": …}`, with what some answers carry beside it. */
export function ok<Data>(c: Context, data: Data) {
  return c.json({ data }, 200)
}

/** What a creation answers: 201, the new thing's id, and what is told only now. */
export function created<Data extends { ID: string }>(c: Context, data: Data) {
  return c.json({ data }, 201)
}
