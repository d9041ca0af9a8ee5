import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { Realm } from '../sessions/session-cookie.ts'
import { isDeferable } from '../sessions/totp-deferral.ts'
import type { Account } from './identity/identity.ts'

/** The user with a name, whatever its case. */
export async function findUserAccount(db: Kysely<DB>, userName: string): Promise<Account | undefined> {
  return readUser(db, sql`lower(user_name) = lower(${userName})`)
}

/** A user that is not deleted, by id. */
export async function findUserAccountById(db: Kysely<DB>, id: string): Promise<Account | undefined> {
  return readUser(db, sql`id = ${id}`)
}

async function readUser(db: Kysely<DB>, which: ReturnType<typeof sql>): Promise<Account | undefined> {
  const { rows } = await sql<Omit<Account, 'realm' | 'deferable'>>`
    select id, user_name, auth_type, third_party_auth, password_hash, login_enabled,
      coalesce(valid_until <= statement_timestamp(), false) as is_expired,
      totp_enabled, totp_confirmed_at is not null as totp_confirmed,
      exists (select from passkeys p where p.user_id = users.id) as has_passkey
    from users where deleted_at is null and ${which}`.execute(db)
  const row = rows[0]
  return row === undefined ? undefined : { ...row, realm: 'user', deferable: false }
}

/** The administrator with a name, whatever its case. */
export async function findAdminAccount(db: Kysely<DB>, userName: string): Promise<Account | undefined> {
  return readAdmin(db, sql`lower(user_name) = lower(${userName})`)
}

/** An administrator by id. */
export async function findAdminAccountById(db: Kysely<DB>, id: string): Promise<Account | undefined> {
  return readAdmin(db, sql`id = ${id}`)
}

/** An administrator by id, locked until the transaction ends. */
export async function lockAdminAccount(tx: Kysely<DB>, id: string): Promise<Account | undefined> {
  // Read after the lock: passkeys, in another table, would else be those of before the wait for it.
  await sql`select from admins where id = ${id} for no key update`.execute(tx)
  return readAdmin(tx, sql`id = ${id}`)
}

async function readAdmin(db: Kysely<DB>, which: ReturnType<typeof sql>): Promise<Account | undefined> {
  const { rows } = await sql<Omit<Account, 'realm' | 'isExpired' | 'deferable'> & { totpDeferrals: number }>`
    select id, user_name, auth_type, third_party_auth, password_hash, login_enabled, totp_enabled,
      totp_confirmed_at is not null as totp_confirmed, totp_deferrals,
      exists (select from passkeys p where p.admin_id = admins.id) as has_passkey
    from admins where ${which}`.execute(db)
  const row = rows[0]
  return row === undefined
    ? undefined
    : { ...row, realm: 'admin', isExpired: false, deferable: isDeferable(row) }
}

/** The account that an identity provider calls so: `issuer subject` of OIDC. */
export async function findAccountOfSubject(
  db: Kysely<DB>,
  realm: Realm,
  subject: string,
): Promise<Account | undefined> {
  const which = sql`third_party_auth = ${subject} and auth_type = 'OIDC'`
  return realm === 'user' ? readUser(db, which) : readAdmin(db, which)
}

/** Gives an account that has no subject yet the first one that comes with its name; false when it has one. */
export async function bindSubject(db: Kysely<DB>, { id, realm }: Account, subject: string): Promise<boolean> {
  const table = sql.table(realm === 'user' ? 'users' : 'admins')
  const { rows } = await sql`
    update ${table} set third_party_auth = ${subject} where id = ${id} and third_party_auth is null
    returning id`.execute(db)
  return rows.length > 0
}

/** Remembers when an administrator signed in last. No change of the account: its version stays. */
export async function markAdminSignedIn(tx: Kysely<DB>, id: string): Promise<void> {
  await sql`update admins set last_login_at = statement_timestamp() where id = ${id}`.execute(tx)
}

/** Replaces the password that was verified; false when it is another one by now. */
export async function replacePassword(
  tx: Kysely<DB>,
  account: Account,
  passwordHash: string,
): Promise<boolean> {
  const table = sql.table(account.realm === 'user' ? 'users' : 'admins')
  const { rows } = await sql`
    update ${table} set password_hash = ${passwordHash}, last_modified_at = clock_timestamp(),
      last_modified_by = ${account.userName}
    where id = ${account.id} and password_hash = ${account.passwordHash} and login_enabled
    returning id`.execute(tx)
  return rows.length > 0
}
