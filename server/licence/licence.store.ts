import { type Kysely, sql } from 'kysely'
import { expiryConfirmedMs } from '#machines/licence.ts'
import type { DB } from '../platform/database.types.ts'
import type { LicencePayload } from './licence.schema.ts'

/** The licence in force as it is recorded. */
export type LicenceRow = {
  licenceId: string
  licenceKey: string
  userLimit: number
  sessionLimit: number | null
  overagePercentage: number
  machineLimit: number | null
  expiresAt: Date
  /** Set once its end was seen twice, ten minutes apart. */
  endedAt: Date | null
}

/** The licence that was saved last and not removed; it may have ended. */
export async function findLicence(db: Kysely<DB>): Promise<LicenceRow | undefined> {
  return db
    .selectFrom('licences')
    .select([
      'licenceId',
      'licenceKey',
      'userLimit',
      'sessionLimit',
      'overagePercentage',
      'machineLimit',
      'expiresAt',
      'endedAt',
    ])
    .where('removedAt', 'is', null)
    .executeTakeFirst()
}

/** Whether an instant is past by the database's clock, which is the one licences end by. */
export async function isPast(db: Kysely<DB>, instant: string): Promise<boolean> {
  const { rows } = await sql<{ past: boolean }>`select ${instant}::timestamptz <= now() as past`.execute(db)
  return rows[0]?.past ?? true
}

/** Takes the present licence away. Its id, if there was one. */
export async function removeCurrent(tx: Kysely<DB>): Promise<string | undefined> {
  const row = await tx
    .updateTable('licences')
    .set({ removedAt: sql`now()` })
    .where('removedAt', 'is', null)
    .returning('licenceId')
    .executeTakeFirst()
  return row?.licenceId
}

/** Records a licence; there must be none. */
export async function insertLicence(
  tx: Kysely<DB>,
  { key, payload, by }: { key: string; payload: LicencePayload; by: string },
): Promise<void> {
  await tx
    .insertInto('licences')
    .values({
      licenceId: payload.id,
      licenceKey: key,
      userLimit: payload.users,
      sessionLimit: payload.sessions,
      overagePercentage: payload.overagePercentage,
      machineLimit: payload.machines,
      expiresAt: payload.expires,
      savedBy: by,
    })
    .execute()
}

/**
 * Marks who is within the licence: the oldest `most` users, everybody for null. Rows are locked in id order, as
 * everywhere.
 */
export async function markLicensedUsers(tx: Kysely<DB>, most: number | null): Promise<void> {
  await sql`
    with ranked as (
      select id, ${most}::bigint is null or row_number() over (order by created_at, id) <= ${most}::bigint as within
      from users where deleted_at is null
    ), changed as (
      select u.id, r.within from users u join ranked r on r.id = u.id
      where u.licensed <> r.within
      order by u.id for no key update of u
    )
    update users u set licensed = c.within from changed c where c.id = u.id`.execute(tx)
}

/** Gives users back that fit again because others were deleted; takes nobody. */
export async function relicenseUsers(tx: Kysely<DB>, most: number | null): Promise<void> {
  await sql`
    update users u set licensed = true
    where not u.licensed and u.deleted_at is null and (${most}::bigint is null or u.id in (
      select id from users where deleted_at is null order by created_at, id limit ${most}::bigint))`.execute(
    tx,
  )
}

/** How many users there are, of any kind. */
export async function countUsers(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from users where deleted_at is null`.execute(db)
  return rows[0]?.count ?? 0
}

/** Server replicas seen within 24 hours. */
export async function countMachines(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from replicas where seen_at > now() - interval '24 hours'`.execute(db)
  return rows[0]?.count ?? 0
}

/** What one evaluation changed. */
export type Evaluation = 'unchanged' | 'endSeen' | 'ended' | 'backInTime'

/**
 * Judges the licence's end by the database's clock: seen past for the first time, seen past again ten minutes or
 * more later, or not past any more because a clock was wrong before. Safe on any number of replicas at once.
 */
export async function evaluateEnd(tx: Kysely<DB>): Promise<Evaluation> {
  const { rows } = await sql<{ wasSeen: boolean; isSeen: boolean; wasEnded: boolean; isEnded: boolean }>`
    with before as (
      select id, expiry_seen_at, ended_at, expires_at <= now() as past from licences
      where removed_at is null for no key update
    )
    update licences l set
      expiry_seen_at = case when b.past then coalesce(b.expiry_seen_at, now()) end,
      ended_at = case when b.past then coalesce(b.ended_at, case
        when b.expiry_seen_at <= now() - make_interval(secs => ${expiryConfirmedMs / 1000}) then now() end) end
    from before b
    where l.id = b.id and (b.past and b.ended_at is null or not b.past and b.expiry_seen_at is not null)
    returning b.expiry_seen_at is not null as was_seen, l.expiry_seen_at is not null as is_seen,
      b.ended_at is not null as was_ended, l.ended_at is not null as is_ended`.execute(tx)
  const [row] = rows
  if (row === undefined) return 'unchanged'
  if (row.isEnded && !row.wasEnded) return 'ended'
  if (row.isSeen && !row.wasSeen) return 'endSeen'
  return row.wasSeen && !row.isSeen ? 'backInTime' : 'unchanged'
}
