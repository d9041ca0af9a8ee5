import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { GrantChange } from './stand-grants.store.ts'

/** Ends the standing grants of one knoc in one session because its user said so. */
export async function revokeStanding(
  tx: Kysely<DB>,
  { sessionId, aclId }: { sessionId: string; aclId: string },
): Promise<GrantChange[]> {
  const { rows } = await sql<GrantChange>`
    update grants g set ended_at = statement_timestamp(), ended_reason = 'revoked'
    from acls a
    where a.id = g.acl_id and g.session_id = ${sessionId}::uuid and g.acl_id = ${aclId}::uuid and g.ended_at is null
    returning g.id, g.acl_id, host(g.address) as address, a.description, g.reason, g.source`.execute(tx)
  return rows
}

/** The knocs that a session's clicks hold open, oldest click first. */
export async function listClickedAcls(db: Kysely<DB>, sessionId: string): Promise<string[]> {
  const { rows } = await sql<{ aclId: string }>`
    select acl_id from live_grants where session_id = ${sessionId}::uuid and reason = 'click'
    group by acl_id order by min(created_at)`.execute(db)
  return rows.map(({ aclId }) => aclId)
}

/** How long a click's error is shown before the user gets a button again, in seconds. */
const errorShownSeconds = 30

/**
 * Click grants that could not be opened within the time an error is shown: their sessions, to be given up.
 * An automatic grant is retried as long as its session lives.
 */
export async function listFailedClicks(
  db: Kysely<DB>,
  limit: number,
): Promise<{ sessionId: string; grantIds: string[] }[]> {
  const { rows } = await sql<{ sessionId: string; grantIds: string[] }>`
    select g.session_id, array_agg(distinct g.id) as grant_ids
    from entries e
    join acl_targets t on t.target_id = e.target_id and t.family = family(e.address)
    join grants g on g.acl_id = t.acl_id and g.address = e.address and g.ended_at is null and g.reason = 'click'
    where e.applied_generation < e.generation and e.failed_generation is not null and e.desired = 'open'
      and e.applied_desired is distinct from 'open'
      and g.created_at < statement_timestamp() - make_interval(secs => ${errorShownSeconds})
    group by g.session_id limit ${limit}`.execute(db)
  return rows
}

/** Ends these grants as failed; only those that still stand. */
export async function endFailed(tx: Kysely<DB>, grantIds: readonly string[]): Promise<void> {
  await sql`
    update grants set ended_at = statement_timestamp(), ended_reason = 'failed'
    where id = any (${[...grantIds]}::uuid[]) and ended_at is null`.execute(tx)
}

/**
 * Sessions with an address to drop without another look: one in doubt for `doubtedSeconds`, or one of two of a family
 * that has not been seen for `flappingSeconds` while the other has.
 */
export async function listDoubtfulSessions(
  db: Kysely<DB>,
  {
    doubtedSeconds,
    flappingSeconds,
    limit,
  }: { doubtedSeconds: number; flappingSeconds: number; limit: number },
): Promise<{ id: string; userId: string; userName: string }[]> {
  const { rows } = await sql<{ id: string; userId: string; userName: string }>`
    select distinct s.id, s.user_id, u.user_name
    from session_addresses a join sessions s on s.id = a.session_id and s.ended_at is null
    join users u on u.id = s.user_id
    where a.left_at is null and (
      a.doubted_at < statement_timestamp() - make_interval(secs => ${doubtedSeconds})
      or a.source = 'own' and a.last_seen_at < statement_timestamp() - make_interval(secs => ${flappingSeconds})
        and exists (
          select from session_addresses other
          where other.session_id = a.session_id and other.left_at is null and other.source = 'own'
            and family(other.address) = family(a.address) and other.last_seen_at > a.last_seen_at))
    limit ${limit}`.execute(db)
  return rows
}

/** Sessions that hold what only a foreign lookup service said, while no administrator trusts its word. */
export async function listUntrustedClaims(
  db: Kysely<DB>,
  limit: number,
): Promise<{ id: string; userId: string; userName: string }[]> {
  const { rows } = await sql<{ id: string; userId: string; userName: string }>`
    select distinct s.id, s.user_id, u.user_name
    from session_addresses a join sessions s on s.id = a.session_id and s.ended_at is null
    join users u on u.id = s.user_id
    where a.source = 'claimed' and a.left_at is null
    limit ${limit}`.execute(db)
  return rows
}
