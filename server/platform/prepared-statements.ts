import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { ClientBase } from 'pg'
import type { DB } from './database.types.ts'

/** Texts one connection keeps prepared; beyond that a statement is planned each time. */
const mostPrepared = 300

/**
 * Lets a connection keep its plans: every statement with parameters is prepared under a name drawn from its text.
 * Ours are few and fixed (lists travel as arrays), and planning a view of five tables takes longer than reading it.
 */
export function prepareStatements(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const names = new Map<string, string>()

  function nameOf(text: string): string | undefined {
    const known = names.get(text)
    if (known !== undefined || names.size >= mostPrepared) return known
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 32)
    names.set(text, name)
    return name
  }

  function preparedQuery(...args: unknown[]): unknown {
    const [text, values, ...rest] = args
    if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return query(...args)
    const name = nameOf(text)
    return name === undefined ? query(...args) : query({ name, text, values }, ...rest)
  }
  client.query = preparedQuery as typeof client.query
}

/**
 * Has what follows in this transaction planned for the tables as they are. A plan that was kept from when they were
 * small reads them whole for each row, until the database next gathers statistics: a minute later at best.
 */
export async function planAnew(tx: Kysely<DB>): Promise<void> {
  await sql`set local plan_cache_mode = force_custom_plan`.execute(tx)
}
