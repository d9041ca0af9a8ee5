import { type Kysely, sql } from 'kysely'

/**
 * Who signs in: users and administrators, the groups users are in, and their second factors.
 *
 * User names are unique within a realm without regard to case (specification README "One name, one person");
 * a deleted user keeps its row until its last door is seen closed (decision 4).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table users (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      company text,
      user_name text not null,
      auth_type text not null check (auth_type in ('local', 'SAML', 'LDAP', 'apikey', 'OIDC')),
      third_party_auth text,
      password_hash text,
      login_enabled boolean not null default true,
      licensed boolean not null default true,
      session_minutes integer not null default 480 check (session_minutes >= 1),
      session_limit integer check (session_limit >= 1),
      valid_until timestamptz,
      totp_enabled boolean not null default false,
      totp_secret text,
      totp_confirmed_at timestamptz,
      totp_last_step bigint,
      totp_pending_secret text,
      totp_pending_at timestamptz,
      last_login_at timestamptz,
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now(),
      last_modified_by text,
      deleted_at timestamptz
    )`.execute(db)
  await sql`create unique index users_user_name on users (lower(user_name)) where deleted_at is null`.execute(
    db,
  )
  await sql`create index users_created_at on users (created_at, id) where deleted_at is null`.execute(db)

  await sql`
    create table admins (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      user_name text not null,
      auth_type text not null check (auth_type in ('local', 'SAML', 'LDAP', 'OIDC')),
      distinguished_name text,
      role text not null default 'owner',
      password_hash text,
      login_enabled boolean not null default true,
      totp_enabled boolean not null default false,
      totp_secret text,
      totp_confirmed_at timestamptz,
      totp_last_step bigint,
      totp_pending_secret text,
      totp_pending_at timestamptz,
      totp_deferrals integer not null default 0,
      last_login_at timestamptz,
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now(),
      last_modified_by text
    )`.execute(db)
  await sql`create unique index admins_user_name on admins (lower(user_name))`.execute(db)

  await sql`
    create table groups (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      description text,
      type text not null check (type in ('dynamic', 'local', 'saml')),
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now(),
      last_modified_by text,
      deleted_at timestamptz
    )`.execute(db)
  await sql`create unique index groups_name on groups (lower(name)) where deleted_at is null`.execute(db)

  await sql`
    create table group_members (
      group_id uuid not null references groups,
      user_id uuid not null references users,
      source text not null default 'admin' check (source in ('admin', 'claim')),
      primary key (group_id, user_id)
    )`.execute(db)
  await sql`create index group_members_user on group_members (user_id)`.execute(db)

  await sql`
    create table recovery_codes (
      id uuid primary key default gen_random_uuid(),
      user_id uuid references users,
      admin_id uuid references admins on delete cascade,
      code_hash text not null,
      used_at timestamptz,
      created_at timestamptz not null default now(),
      check (num_nonnulls(user_id, admin_id) = 1)
    )`.execute(db)
  await sql`create index recovery_codes_user on recovery_codes (user_id) where user_id is not null`.execute(
    db,
  )
  await sql`create index recovery_codes_admin on recovery_codes (admin_id) where admin_id is not null`.execute(
    db,
  )

  await sql`
    create table passkeys (
      id uuid primary key default gen_random_uuid(),
      user_id uuid references users,
      admin_id uuid references admins on delete cascade,
      name text not null,
      credential_id text not null unique,
      public_key bytea not null,
      counter bigint not null default 0,
      transports text[] not null default '{}',
      created_at timestamptz not null default now(),
      last_used_at timestamptz,
      check (num_nonnulls(user_id, admin_id) = 1)
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table passkeys, recovery_codes, group_members, groups, admins, users`.execute(db)
}
