import { type Kysely, type SqlBool, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { EntryKey } from './entry-key.ts'
import type { RightsScope } from './rights.ts'

/** The condition that a standing grant `g` belongs to a scope. */
export const inScope = ({ users = [], sessions = [], acls = [], everybody }: RightsScope) =>
  everybody === true
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(g.user_id = any (${[...users]}::uuid[]) or g.session_id = any (${[...sessions]}::uuid[])
        or g.acl_id = any (${[...acls]}::uuid[]))`

/** What standing grants of a scope hold. */
export type ScopeKeys = {
  keys: EntryKey[]
  /** Whether any grant stands, with a list or without. */
  hasGrants: boolean
}

/**
 * The entries that standing grants of a scope hold, by the lists their knocs have at this moment: asked before and
 * after a change, so that a list which a knoc gives up is settled as well as the one it takes.
 */
export async function readScopeKeys(tx: Kysely<DB>, scope: RightsScope): Promise<ScopeKeys> {
  const { rows } = await sql<{ targetId: string | null; address: string }>`
    select distinct t.target_id, host(g.address) as address
    from grants g
    left join acl_targets t on t.acl_id = g.acl_id and t.family = family(g.address)
    where g.ended_at is null and ${inScope(scope)}`.execute(tx)
  const keys = rows.flatMap(({ targetId, address }) => (targetId === null ? [] : [{ targetId, address }]))
  return { keys, hasGrants: rows.length > 0 }
}

/** A grant that ended, as the audit log tells it. */
export type EndedGrant = {
  id: string
  sessionId: string
  userName: string
  aclId: string
  description: string
  address: string
}

/**
 * Ends every standing grant of a scope that no longer lives, and says which they were. `offset 0` keeps the planner
 * from working the view out for everybody and joining it: each grant is looked up by its id.
 */
export async function endDeadGrants(
  tx: Kysely<DB>,
  scope: RightsScope,
  reason: string,
): Promise<EndedGrant[]> {
  const { rows } = await sql<EndedGrant>`
    update grants g set ended_at = statement_timestamp(), ended_reason = ${reason}
    from users u, acls a
    where g.ended_at is null and ${inScope(scope)} and u.id = g.user_id and a.id = g.acl_id
      and not exists (select from live_grants l where l.id = g.id offset 0)
    returning g.id, g.session_id, u.user_name, g.acl_id, a.description, host(g.address) as address`.execute(
    tx,
  )
  return rows
}
