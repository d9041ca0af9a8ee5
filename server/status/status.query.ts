import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** What the console's home counts, and the time. */
export type Counts = {
  sessionCount: number
  aclCount: number
  userCount: number
  /** A peer that sent forwarding headers within a day without being a trusted proxy. */
  untrustedProxy: string | null
  now: Date
}

/** Live sessions, knocs and users, in one read of indexes. */
export async function readCounts(db: Kysely<DB>): Promise<Counts> {
  const { rows } = await sql<Counts>`
    select
      (select count(*) from sessions
        where ended_at is null and ends_at > statement_timestamp() and stage = 'complete') as session_count,
      (select count(*) from acls where deleted_at is null and parent_id is null) as acl_count,
      (select count(*) from users where deleted_at is null) as user_count,
      (select host(untrusted_proxy) from sessions
        where untrusted_proxy is not null and created_at > statement_timestamp() - interval '1 day'
        order by created_at desc limit 1) as untrusted_proxy,
      statement_timestamp() as now`.execute(db)
  const row = rows[0]
  if (row === undefined) throw new Error('The database counted nothing.')
  return row
}
