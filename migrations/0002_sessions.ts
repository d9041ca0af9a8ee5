import { type Kysely, sql } from 'kysely'

/**
 * Signed-in time spans of both realms, the addresses a session was seen at, and what sign-in needs to remember:
 * open requests to identity providers, assertions already used, device cookies, counted failures.
 *
 * Tokens are stored hashed. A half session (password right, second factor open) has stage 'half'.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sessions (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      token_hash text not null unique,
      stage text not null default 'complete' check (stage in ('half', 'complete')),
      kind text not null default 'portal' check (kind in ('portal', 'machine')),
      kiosk boolean not null default false,
      ip_address inet not null,
      untrusted_proxy inet,
      user_agent text,
      identity_session text,
      api_key_id uuid,
      created_at timestamptz not null default now(),
      ends_at timestamptz not null,
      seen_at timestamptz not null default now(),
      ended_at timestamptz,
      ended_reason text
    )`.execute(db)
  await sql`create index sessions_user on sessions (user_id, created_at) where ended_at is null`.execute(db)
  await sql`create index sessions_ends on sessions (ends_at) where ended_at is null`.execute(db)
  await sql`create index sessions_identity on sessions (identity_session) where identity_session is not null`.execute(
    db,
  )

  await sql`
    create table session_addresses (
      session_id uuid not null references sessions on delete cascade,
      address inet not null,
      source text not null check (source in ('own', 'discovered', 'claimed')),
      port integer not null default 0,
      first_seen_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      left_at timestamptz,
      doubted_at timestamptz,
      primary key (session_id, address)
    )`.execute(db)

  await sql`
    create table admin_sessions (
      id uuid primary key default gen_random_uuid(),
      admin_id uuid not null references admins on delete cascade,
      token_hash text not null unique,
      stage text not null default 'complete' check (stage in ('half', 'complete')),
      ip_address inet not null,
      user_agent text,
      identity_session text,
      created_at timestamptz not null default now(),
      ends_at timestamptz not null,
      seen_at timestamptz not null default now(),
      ended_at timestamptz,
      ended_reason text
    )`.execute(db)
  await sql`create index admin_sessions_admin on admin_sessions (admin_id) where ended_at is null`.execute(db)
  await sql`create index admin_sessions_ends on admin_sessions (ends_at) where ended_at is null`.execute(db)

  await sql`
    create table identity_requests (
      id uuid primary key default gen_random_uuid(),
      realm text not null check (realm in ('user', 'admin')),
      kind text not null check (kind in ('saml', 'oidc', 'passkey')),
      request_id text not null unique,
      browser_hash text not null,
      facts jsonb not null default '{}',
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      used_at timestamptz
    )`.execute(db)
  await sql`
    create table used_assertions (
      assertion_id text primary key,
      expires_at timestamptz not null
    )`.execute(db)
  await sql`
    create table known_devices (
      id uuid primary key default gen_random_uuid(),
      user_id uuid references users,
      admin_id uuid references admins on delete cascade,
      token_hash text not null unique,
      created_at timestamptz not null default now(),
      seen_at timestamptz not null default now(),
      check (num_nonnulls(user_id, admin_id) = 1)
    )`.execute(db)
  await sql`
    create unlogged table failure_counters (
      bucket text primary key,
      failures integer not null default 0,
      window_started_at timestamptz not null default now(),
      blocked_until timestamptz
    )`.execute(db)
  await sql`create index failure_counters_window on failure_counters (window_started_at)`.execute(db)
  await sql`
    create table address_sightings (
      id bigint generated always as identity primary key,
      session_id uuid not null references sessions on delete cascade,
      nonce_hash text not null,
      port integer,
      address inet,
      created_at timestamptz not null default now(),
      seen_at timestamptz
    )`.execute(db)
  await sql`create index address_sightings_nonce on address_sightings (nonce_hash)`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table address_sightings, failure_counters, known_devices, used_assertions, identity_requests,
    admin_sessions, session_addresses, sessions`.execute(db)
}
