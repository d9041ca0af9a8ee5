import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A live session with what a request needs to know of its user. */
export type LiveSession = {
  id: string
  userId: string
  userName: string
  authType: string
  kind: 'portal' | 'machine'
  stage: 'half' | 'complete'
  kiosk: boolean
  endsAt: Date
  totpEnabled: boolean
  totpConfirmed: boolean
  hasPasskey: boolean
  /** Not marked as seen for 10 s. */
  isStale: boolean
}

/** How exact "last seen" is, in seconds: a page that asks every second writes every tenth. */
const seenEverySeconds = 10

/**
 * The live session of a token, by the database's clock; one indexed row and its user's.
 * A deleted, disabled or run-out user has no live session, whatever the row says.
 */
export async function findLiveSession(
  db: Kysely<DB>,
  tokenHash: string,
  kind: 'portal' | 'machine',
): Promise<LiveSession | undefined> {
  const { rows } = await sql<LiveSession>`
    select s.id, s.user_id, u.user_name, u.auth_type, s.kind, s.stage, s.kiosk, s.ends_at, u.totp_enabled,
      u.totp_confirmed_at is not null as totp_confirmed,
      exists (select from passkeys p where p.user_id = u.id) as has_passkey,
      s.seen_at < statement_timestamp() - make_interval(secs => ${seenEverySeconds}) as is_stale
    from sessions s join users u on u.id = s.user_id
    where s.token_hash = ${tokenHash} and s.kind = ${kind}
      and s.ended_at is null and s.ends_at > statement_timestamp()
      and u.deleted_at is null and u.login_enabled
      and (u.valid_until is null or u.valid_until > statement_timestamp())`.execute(db)
  return rows[0]
}

/** Marks a session as seen, unless another request does so now or somebody holds the row: seeing never waits. */
export async function touchSession(db: Kysely<DB>, id: string): Promise<void> {
  await sql`
    update sessions set seen_at = statement_timestamp()
    where id in (
      select id from sessions
      where id = ${id} and seen_at < statement_timestamp() - make_interval(secs => ${seenEverySeconds})
      for no key update skip locked)`.execute(db)
}

/** What a new session row takes over from the request. */
export type NewSession = {
  userId: string
  tokenHash: string
  stage: 'half' | 'complete'
  kind: 'portal' | 'machine'
  kiosk: boolean
  /** Longest life in minutes, null = the user's session minutes alone. */
  atMostMinutes: number | null
  address: string
  untrustedProxy: string | null
  userAgent: string | null
  identitySession?: string | null
  /** The API key that a machine signed in with. */
  apiKeyId?: string | null
}

/**
 * Inserts a session that ends at the earliest of its user's session minutes, `atMostMinutes` and ValidUntil. A complete
 * one is a sign-in, which its user's row remembers; that is no change of the account: its version stays.
 */
export async function insertSession(
  tx: Kysely<DB>,
  session: NewSession,
): Promise<{ id: string; endsAt: Date; secondsLeft: number }> {
  const { rows } = await sql<{ id: string; endsAt: Date; secondsLeft: number }>`
    with signed_in as (
      update users set last_login_at = statement_timestamp()
      where id = ${session.userId} and ${session.stage} = 'complete')
    insert into sessions (user_id, token_hash, stage, kind, kiosk, ip_address, untrusted_proxy, user_agent, identity_session,
      api_key_id, ends_at)
    select u.id, ${session.tokenHash}, ${session.stage}, ${session.kind}, ${session.kiosk},
      ${session.address}::inet, ${session.untrustedProxy}::inet, ${session.userAgent},
      ${session.identitySession ?? null}, ${session.apiKeyId ?? null}::uuid,
      least(
        statement_timestamp() + make_interval(mins => least(u.session_minutes, ${session.atMostMinutes}::int)),
        u.valid_until)
    from users u where u.id = ${session.userId}
    returning id, ends_at,
      extract(epoch from ends_at - statement_timestamp())::float8 as seconds_left`.execute(tx)
  const row = rows[0]
  if (row === undefined) throw new Error(`No user ${session.userId} to sign in.`)
  return row
}

/** Notes that a session has a successor from now on: if nobody ends it, `endLeftBehind` does. */
export async function markExtended(tx: Kysely<DB>, id: string): Promise<void> {
  await sql`update sessions set extended_at = statement_timestamp() where id = ${id}::uuid`.execute(tx)
}

/** A session that was ended, for the audit log. */
export type EndedSession = { id: string; userId: string; userName: string }

/** Ends the live ones among these sessions and says which they were. */
export async function endSessionRows(
  tx: Kysely<DB>,
  ids: readonly string[],
  reason: string,
): Promise<EndedSession[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<EndedSession>`
    update sessions s set ended_at = statement_timestamp(), ended_reason = ${reason}
    from users u
    where s.id = any (${[...ids]}::uuid[]) and s.ended_at is null and u.id = s.user_id
    returning s.id, s.user_id, u.user_name`.execute(tx)
  return rows
}

/** Ends the live sessions of a user, half ones included, but for one; says which they were. */
export async function endOtherSessionRows(
  tx: Kysely<DB>,
  { userId, except = null }: { userId: string; except?: string | null },
  reason: string,
): Promise<EndedSession[]> {
  const { rows } = await sql<EndedSession>`
    update sessions s set ended_at = statement_timestamp(), ended_reason = ${reason}
    from users u
    where s.user_id = ${userId} and s.ended_at is null and s.id is distinct from ${except}::uuid
      and u.id = s.user_id
    returning s.id, s.user_id, u.user_name`.execute(tx)
  return rows
}

/** The complete sessions of a user beyond the newest `keep`, oldest first out; `except` isn't counted. */
export async function listSurplusSessionIds(
  tx: Kysely<DB>,
  { userId, keep, except }: { userId: string; keep: number; except: string | null },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from sessions
    where user_id = ${userId} and ended_at is null and ends_at > statement_timestamp() and stage = 'complete'
      and id is distinct from ${except}::uuid
    order by created_at desc, id desc offset ${keep}`.execute(tx)
  return rows.map(({ id }) => id)
}

/**
 * Lowers the ends of a user's sessions and standing grants: to an instant, to so many minutes from each session's
 * beginning, or both. Never raises one.
 */
export async function shortenSessions(
  tx: Kysely<DB>,
  { userId, validUntil, minutes }: { userId: string; validUntil: Date | null; minutes: number | null },
): Promise<void> {
  await sql`
    update sessions set ends_at = least(ends_at, ${validUntil}::timestamptz,
      created_at + make_interval(mins => ${minutes}::int))
    where user_id = ${userId} and ended_at is null`.execute(tx)
  await sql`
    update grants g set ends_at = s.ends_at from sessions s
    where g.user_id = ${userId} and g.ended_at is null and s.id = g.session_id and g.ends_at > s.ends_at`.execute(
    tx,
  )
}
