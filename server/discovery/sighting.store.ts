import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { hashToken } from '../platform/random.ts'
import { nonceSeconds } from './sighting.query.ts'

/** How far the clock of a database that took over may be behind the one that issued the nonce, in seconds. */
const toleratedSeconds = 5

/**
 * Writes down where the browser of a live session was seen, once for each port and nonce; for the portal's own port
 * (0) once for each family. A nonce that is too old, or whose session has ended or is half, writes nothing.
 */
export async function insertSighting(
  db: Kysely<DB>,
  {
    nonce,
    sessionId,
    issuedAt,
    port,
    address,
  }: { nonce: string; sessionId: string; issuedAt: Date; port: number; address: string },
): Promise<void> {
  await sql`
    insert into address_sightings (nonce_hash, session_id, port, address)
    select ${hashToken(nonce)}, s.id, ${port}::integer, ${address}::inet
    from sessions s
    where s.id = ${sessionId}::uuid and s.stage = 'complete' and s.ended_at is null
      and s.ends_at > statement_timestamp()
      and ${issuedAt}::timestamptz between statement_timestamp() - make_interval(secs => ${nonceSeconds})
        and statement_timestamp() + make_interval(secs => ${toleratedSeconds})
    on conflict do nothing`.execute(db)
}
