import { type Kysely, sql } from 'kysely'
import { sessionLimit } from '#machines/licence.ts'
import type { DB } from '../platform/database.types.ts'

/** A live session and whose it is. */
export type OwnedSession = { id: string; userId: string }

/** The live session behind a token's hash, half ones included. */
export async function findSessionOfToken(
  db: Kysely<DB>,
  tokenHash: string,
): Promise<(OwnedSession & { kind: string; stage: string; kiosk: boolean }) | undefined> {
  return db
    .selectFrom('sessions')
    .select(['id', 'userId', 'kind', 'stage', 'kiosk'])
    .where('tokenHash', '=', tokenHash)
    .where('endedAt', 'is', null)
    .executeTakeFirst()
}

/** The live session with an id. */
export async function findOwnedSession(db: Kysely<DB>, id: string): Promise<OwnedSession | undefined> {
  return db
    .selectFrom('sessions')
    .select(['id', 'userId'])
    .where('id', '=', id)
    .where('endedAt', 'is', null)
    .executeTakeFirst()
}

/** Some live sessions that began before an instant of the database's clock. */
export async function listSessionsBegunBefore(
  db: Kysely<DB>,
  before: Date,
  limit: number,
): Promise<OwnedSession[]> {
  return db
    .selectFrom('sessions')
    .select(['id', 'userId'])
    .where('endedAt', 'is', null)
    .where('createdAt', '<=', before)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Sessions that have had a successor for so long and live still, oldest first. */
export async function listLeftBehind(
  db: Kysely<DB>,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<OwnedSession[]> {
  const { rows } = await sql<OwnedSession>`
    select id, user_id from sessions
    where ended_at is null and extended_at < statement_timestamp() - make_interval(secs => ${seconds})
    order by extended_at limit ${limit}`.execute(db)
  return rows
}

/** Now, by the clock that decides about ends. */
export async function readDatabaseTime(db: Kysely<DB>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  return rows[0]?.now ?? new Date(0)
}

/** How many sessions a user may have at once: the smaller of the user's limit and the licence's; null = any number. */
export async function findEffectiveSessionLimit(tx: Kysely<DB>, userId: string): Promise<number | null> {
  const { rows } = await sql<{ own: number | null; licensed: number | null }>`
    select u.session_limit as own, l.session_limit as licensed
    from users u left join licences l on l.removed_at is null
    where u.id = ${userId}`.execute(tx)
  const { own = null, licensed = null } = rows[0] ?? {}
  return sessionLimit({ sessionLimit: licensed }, own)
}

/** A live session as the console lists it. */
export type LiveSessionFacts = { id: string; createdAt: Date; endsAt: Date; address: string }

/** The live sessions of a user, newest first. */
export async function listLiveSessions(db: Kysely<DB>, userId: string): Promise<LiveSessionFacts[]> {
  const { rows } = await sql<LiveSessionFacts>`
    select id, created_at, ends_at, host(ip_address) as address from sessions
    where user_id = ${userId} and ended_at is null and ends_at > statement_timestamp() and stage = 'complete'
    order by created_at desc, id`.execute(db)
  return rows
}

/** Whether a session still lives, by the database's clock; asked by streams that outlast their request. */
export async function isSessionLive(db: Kysely<DB>, id: string): Promise<boolean> {
  const { rows } = await sql<{ lives: boolean }>`
    select exists (
      select from sessions s join users u on u.id = s.user_id
      where s.id = ${id}::uuid and s.ended_at is null and s.ends_at > statement_timestamp()
        and u.deleted_at is null and u.login_enabled) as lives`.execute(db)
  return rows[0]?.lives ?? false
}
