import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** How long a nonce is good, and a sighting counts, in seconds. */
export const nonceSeconds = 60

/** An address that one of our ports saw a session's browser at; port 0 is the portal's own. */
export type Sighting = { port: number; address: string }

/**
 * Where a session's browser was seen lately, by whichever replica. What was seen before the session's addresses last
 * changed proves nothing of where it is now.
 */
export async function listSightings(db: Kysely<DB>, sessionId: string): Promise<Sighting[]> {
  const { rows } = await sql<Sighting>`
    select distinct port, host(address) as address from address_sightings
    where session_id = ${sessionId}::uuid
      and seen_at > statement_timestamp() - make_interval(secs => ${nonceSeconds})
      and seen_at >= coalesce((
        select max(greatest(left_at, doubted_at)) from session_addresses where session_id = ${sessionId}::uuid),
        '-infinity')`.execute(db)
  return rows
}
