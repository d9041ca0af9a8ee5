import { type Kysely, sql } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'

/** Which account of which realm. */
export type AccountKey = { realm: Realm; id: string }

/** Minutes for which a secret that is being set up is shown again. Specification README "Deferring and enrolling". */
const pendingMinutes = 10

/** Minutes for which its code is taken: whoever saw it last has as long as a half session lives. */
const pendingTakenMinutes = pendingMinutes + 5

/** What codes of an account are checked against. */
export type StoredSecret = {
  /** Sealed; null until one is confirmed. */
  secret: string | null
  /** The step whose code was used last. */
  lastStep: number | null
  /** Sealed; null when none is being set up, or it has run out. */
  pendingSecret: string | null
  /** The database's clock. */
  epochSeconds: number
}

/** Reads the secrets of an account. */
export async function readSecret(
  db: Kysely<DB>,
  { realm, id }: AccountKey,
): Promise<StoredSecret | undefined> {
  const { rows } = await sql<StoredSecret>`
    select totp_secret as secret, totp_last_step as last_step,
      case when totp_pending_at > statement_timestamp() - make_interval(mins => ${pendingTakenMinutes})
        then totp_pending_secret end as pending_secret,
      extract(epoch from statement_timestamp())::float8 as epoch_seconds
    from ${accounts(realm)} where id = ${id}`.execute(db)
  return rows[0]
}

/**
 * Keeps a new pending secret, unless there is one of the last ten minutes.
 *
 * @returns the one that counts, sealed; undefined when a secret is confirmed.
 */
export async function offerPendingSecret(
  db: Kysely<DB>,
  { realm, id }: AccountKey,
  sealed: string,
): Promise<string | undefined> {
  await sql`
    update ${accounts(realm)}
    set totp_pending_secret = ${sealed}, totp_pending_at = statement_timestamp()
    where id = ${id} and totp_confirmed_at is null and (totp_pending_secret is null
      or totp_pending_at <= statement_timestamp() - make_interval(mins => ${pendingMinutes}))`.execute(db)
  const { rows } = await sql<{ pendingSecret: string }>`
    select totp_pending_secret as pending_secret from ${accounts(realm)}
    where id = ${id} and totp_confirmed_at is null and totp_pending_secret is not null`.execute(db)
  return rows[0]?.pendingSecret
}

/** Makes the pending secret the account's; false when another was confirmed, or it isn't pending any more. */
export async function confirmSecret(
  tx: Kysely<DB>,
  { realm, id }: AccountKey,
  { pendingSecret, secret, step }: { pendingSecret: string; secret: string; step: number },
): Promise<boolean> {
  const { rows } = await sql`
    update ${accounts(realm)} set totp_secret = ${secret}, totp_confirmed_at = statement_timestamp(),
      totp_last_step = ${step}, totp_pending_secret = null, totp_pending_at = null
    where id = ${id} and totp_confirmed_at is null and totp_pending_secret = ${pendingSecret}
    returning id`.execute(tx)
  return rows.length > 0
}

/** Uses a step's code up; false when that step or a later one is used, by whatever replica, or the secret is another. */
export async function useStep(
  tx: Kysely<DB>,
  { realm, id }: AccountKey,
  { secret, step }: { secret: string; step: number },
): Promise<boolean> {
  const { rows } = await sql`
    update ${accounts(realm)} set totp_last_step = ${step}
    where id = ${id} and totp_secret = ${secret} and (totp_last_step is null or totp_last_step < ${step})
    returning id`.execute(tx)
  return rows.length > 0
}

/** Counts a deferral of an administrator, whose row the caller has locked and judged. */
export async function countDeferral(tx: Kysely<DB>, adminId: string): Promise<void> {
  await sql`update admins set totp_deferrals = totp_deferrals + 1 where id = ${adminId}`.execute(tx)
}

/** Deletes secret, pending secret, recovery codes and passkeys of an account; that it must use one stays. */
export async function deleteSecondFactor(tx: Kysely<DB>, { realm, id }: AccountKey): Promise<void> {
  await sql`
    update ${accounts(realm)} set totp_secret = null, totp_confirmed_at = null, totp_last_step = null,
      totp_pending_secret = null, totp_pending_at = null
    where id = ${id}`.execute(tx)
  await sql`delete from recovery_codes where ${owner(realm)} = ${id}`.execute(tx)
  await sql`delete from passkeys where ${owner(realm)} = ${id}`.execute(tx)
}

const accounts = (realm: Realm) => sql.table(realm === 'user' ? 'users' : 'admins')
const owner = (realm: Realm) => sql.ref(realm === 'user' ? 'user_id' : 'admin_id')
