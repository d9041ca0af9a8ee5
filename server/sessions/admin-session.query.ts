import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A live admin session as the console lists it. */
export type AdminSessionFacts = { id: string; createdAt: Date; endsAt: Date; address: string }

/** The live sessions of an administrator, newest first; half ones are none yet. */
export async function listLiveAdminSessions(db: Kysely<DB>, adminId: string): Promise<AdminSessionFacts[]> {
  const { rows } = await sql<AdminSessionFacts>`
    select id, created_at, ends_at, host(ip_address) as address from admin_sessions
    where admin_id = ${adminId} and ended_at is null and ends_at > statement_timestamp() and stage = 'complete'
    order by created_at desc, id`.execute(db)
  return rows
}

/** Whether an admin session still lives, by the database's clock; asked again under a lock. */
export async function isAdminSessionLive(db: Kysely<DB>, id: string): Promise<boolean> {
  const { rows } = await sql<{ lives: boolean }>`
    select exists (
      select from admin_sessions s join admins a on a.id = s.admin_id
      where s.id = ${id}::uuid and s.ended_at is null and s.ends_at > statement_timestamp()
        and s.stage = 'complete' and a.login_enabled) as lives`.execute(db)
  return rows[0]?.lives ?? false
}
