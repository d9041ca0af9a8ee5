import { type Kysely, sql } from 'kysely'

/**
 * Signing in by other ways than a local password: what an identity provider or a directory calls an account
 * (`third_party_auth`: LDAP the distinguished name, OIDC `issuer subject`), and the indexes that looking for
 * passkeys, known devices and what has run out needs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table admins rename column distinguished_name to third_party_auth`.execute(db)
  await sql`
    create unique index users_third_party on users (third_party_auth)
    where auth_type = 'OIDC' and third_party_auth is not null and deleted_at is null`.execute(db)
  await sql`
    create unique index admins_third_party on admins (third_party_auth)
    where auth_type = 'OIDC' and third_party_auth is not null`.execute(db)
  await sql`create index passkeys_user on passkeys (user_id) where user_id is not null`.execute(db)
  await sql`create index passkeys_admin on passkeys (admin_id) where admin_id is not null`.execute(db)
  await sql`create index known_devices_user on known_devices (user_id) where user_id is not null`.execute(db)
  await sql`create index known_devices_admin on known_devices (admin_id) where admin_id is not null`.execute(
    db,
  )
  await sql`create index identity_requests_expiry on identity_requests (expires_at)`.execute(db)
  await sql`create index used_assertions_expiry on used_assertions (expires_at)`.execute(db)
  await sql`
    create index admin_sessions_identity on admin_sessions (identity_session)
    where identity_session is not null`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index admin_sessions_identity, used_assertions_expiry, identity_requests_expiry,
    known_devices_admin, known_devices_user, passkeys_admin, passkeys_user, admins_third_party,
    users_third_party`.execute(db)
  await sql`alter table admins rename column third_party_auth to distinguished_name`.execute(db)
}
