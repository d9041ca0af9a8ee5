import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { RightsScope } from './rights.ts'

/**
 * Locks what rights hang on, before anything is read that decides about them (decision 3).
 *
 * A granting transaction takes its subjects with `lockGranting`, shared, whatever takes a right away takes them
 * here, exclusively; so a grant that races the change either commits before it and is seen, or comes after it and
 * is refused. Order everywhere: the licence, users, sessions, ACLs, each by id; entries come after. ACLs are
 * advisory locks, because edits of their columns must not wait for readers.
 */
export async function lockSubjects(
  tx: Kysely<DB>,
  { users = [], sessions = [], acls = [], everybody }: RightsScope,
): Promise<void> {
  if (everybody === true) await sql`select pg_advisory_xact_lock(${licenceLock})`.execute(tx)
  if (users.length > 0)
    await sql`
      select id from users where id = any (${[...users]}::uuid[]) order by id for no key update`.execute(tx)
  if (sessions.length > 0)
    await sql`
      select id from sessions where id = any (${[...sessions]}::uuid[]) order by id for no key update`.execute(
      tx,
    )
  if (acls.length > 0)
    await sql`
      select pg_advisory_xact_lock(hashtextextended(id::text, 0))
      from (select distinct id from unnest(${[...acls]}::uuid[]) as a (id) order by id) a`.execute(tx)
}

/** Share-locks what a session's grants depend on, in one round trip; the session itself is changed. */
export async function lockGranting(
  tx: Kysely<DB>,
  { userId, sessionId, acls }: { userId: string; sessionId: string; acls: readonly string[] },
): Promise<void> {
  await sql`
    select lock_granting(${userId}::uuid, ${sessionId}::uuid, ${[...acls]}::uuid[], ${licenceLock}::bigint)`.execute(
    tx,
  )
}

/** Number of the advisory lock that stands for the licence; any fixed number that nothing else uses. */
const licenceLock = 4_210_001
