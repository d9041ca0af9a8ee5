import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A live session of an administrator. */
export type LiveAdminSession = {
  sessionId: string
  id: string
  userName: string
  displayName: string
  role: string
  authType: string
  stage: 'half' | 'complete'
  endsAt: Date
  totpEnabled: boolean
  totpConfirmed: boolean
  hasPasskey: boolean
  totpDeferrals: number
  isStale: boolean
}

const seenEverySeconds = 10

/** The live admin session of a token, by the database's clock. A disabled admin has none. */
export async function findLiveAdminSession(
  db: Kysely<DB>,
  tokenHash: string,
): Promise<LiveAdminSession | undefined> {
  const { rows } = await sql<LiveAdminSession>`
    select s.id as session_id, a.id, a.user_name, a.name as display_name, a.role, a.auth_type, s.stage, s.ends_at,
      a.totp_enabled, a.totp_confirmed_at is not null as totp_confirmed, a.totp_deferrals,
      exists (select from passkeys p where p.admin_id = a.id) as has_passkey,
      s.seen_at < statement_timestamp() - make_interval(secs => ${seenEverySeconds}) as is_stale
    from admin_sessions s join admins a on a.id = s.admin_id
    where s.token_hash = ${tokenHash} and s.ended_at is null and s.ends_at > statement_timestamp()
      and a.login_enabled`.execute(db)
  return rows[0]
}

/** Marks an admin session as seen; never waits for the row. */
export async function touchAdminSession(db: Kysely<DB>, id: string): Promise<void> {
  await sql`
    update admin_sessions set seen_at = statement_timestamp()
    where id in (
      select id from admin_sessions
      where id = ${id} and seen_at < statement_timestamp() - make_interval(secs => ${seenEverySeconds})
      for no key update skip locked)`.execute(db)
}

/** Inserts an admin session of so many minutes. */
export async function insertAdminSession(
  tx: Kysely<DB>,
  session: {
    adminId: string
    tokenHash: string
    stage: 'half' | 'complete'
    minutes: number
    address: string
    userAgent: string | null
    identitySession?: string | null
  },
): Promise<{ id: string; secondsLeft: number }> {
  const { rows } = await sql<{ id: string; secondsLeft: number }>`
    insert into admin_sessions (admin_id, token_hash, stage, ip_address, user_agent, identity_session, ends_at)
    values (${session.adminId}, ${session.tokenHash}, ${session.stage}, ${session.address}::inet,
      ${session.userAgent}, ${session.identitySession ?? null},
      statement_timestamp() + make_interval(mins => ${session.minutes}))
    returning id, extract(epoch from ends_at - statement_timestamp())::float8 as seconds_left`.execute(tx)
  const row = rows[0]
  if (row === undefined) throw new Error('The admin session was not inserted.')
  return row
}

/** An admin session that was ended, for the audit log. */
export type EndedAdminSession = { id: string; userName: string }

/** Ends one live admin session and says which it was; nothing when there was none. */
export async function endAdminSessionRow(
  tx: Kysely<DB>,
  id: string,
  reason: string,
): Promise<EndedAdminSession[]> {
  return endRows(tx, sql`s.id = ${id}`, reason)
}

/** Ends the live session of a token, if there is one: the browser signs in anew. */
export async function endAdminSessionOfToken(
  tx: Kysely<DB>,
  tokenHash: string,
  reason: string,
): Promise<void> {
  await tx
    .updateTable('adminSessions')
    .set({ endedAt: sql<Date>`statement_timestamp()`, endedReason: reason })
    .where('tokenHash', '=', tokenHash)
    .where('endedAt', 'is', null)
    .execute()
}

/** Ends the live sessions of an admin, half ones included, but for one; says which they were. */
export async function endOtherAdminSessionRows(
  tx: Kysely<DB>,
  { adminId, except = null }: { adminId: string; except?: string | null },
  reason: string,
): Promise<EndedAdminSession[]> {
  return endRows(tx, sql`s.admin_id = ${adminId} and s.id is distinct from ${except}::uuid`, reason)
}

/** Ends every live session of every admin, half ones included; says which they were. */
export async function endAllAdminSessionRows(tx: Kysely<DB>, reason: string): Promise<EndedAdminSession[]> {
  return endRows(tx, sql`true`, reason)
}

async function endRows(
  tx: Kysely<DB>,
  which: RawBuilder<unknown>,
  reason: string,
): Promise<EndedAdminSession[]> {
  const { rows } = await sql<EndedAdminSession>`
    update admin_sessions s set ended_at = statement_timestamp(), ended_reason = ${reason}
    from admins a
    where ${which} and s.ended_at is null and a.id = s.admin_id
    returning s.id, a.user_name`.execute(tx)
  return rows
}
