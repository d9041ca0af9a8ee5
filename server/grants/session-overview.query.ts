import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { SessionAddress } from '../status/status.schema.ts'

/** What the portal's header shows of a session and its user. */
export type SessionOverview = {
  name: string
  validUntil: Date | null
  userLicensed: boolean
  licensed: boolean
  untrustedProxy: string | null
  now: Date
  /** Addresses it holds, its own first. */
  addresses: SessionAddress[]
}

/** Reads it for a live session. */
export async function getSessionOverview(db: Kysely<DB>, sessionId: string): Promise<SessionOverview> {
  const { rows } = await sql<SessionOverview>`
    select u.name, u.valid_until, u.licensed as user_licensed, statement_timestamp() as now,
      host(s.untrusted_proxy) as untrusted_proxy,
      exists (select from licences where removed_at is null and ended_at is null) as licensed,
      array(
        select json_build_object('IP', host(a.address), 'Source', a.source) from session_addresses a
        where a.session_id = s.id and a.left_at is null
        order by a.source <> 'own', a.last_seen_at desc, a.address) as addresses
    from sessions s join users u on u.id = s.user_id where s.id = ${sessionId}::uuid`.execute(db)
  const row = rows[0]
  if (row === undefined) throw new Error(`No session ${sessionId}.`)
  return row
}
