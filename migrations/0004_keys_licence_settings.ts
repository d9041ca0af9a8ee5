import { type Kysely, sql } from 'kysely'

/**
 * What belongs to the installation: its epoch and master-key check, settings, licence, server replicas,
 * integrators' API keys, webhooks, and who read which passive list.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table installation (
      singleton boolean primary key default true check (singleton),
      epoch uuid not null default gen_random_uuid(),
      master_key_check text,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`insert into installation default values`.execute(db)

  await sql`
    create table settings (
      name text primary key,
      value jsonb not null,
      last_modified_at timestamptz not null default now(),
      last_modified_by text
    )`.execute(db)

  await sql`
    create table licences (
      id uuid primary key default gen_random_uuid(),
      licence_id text not null,
      licence_key text not null,
      user_limit integer not null,
      session_limit integer,
      overage_percentage integer not null default 50 check (overage_percentage between 0 and 50),
      machine_limit integer,
      expires_at timestamptz not null,
      saved_at timestamptz not null default now(),
      saved_by text,
      expiry_seen_at timestamptz,
      ended_at timestamptz,
      removed_at timestamptz
    )`.execute(db)
  await sql`create unique index licences_current on licences ((true)) where removed_at is null`.execute(db)

  await sql`
    create table replicas (
      id text primary key,
      host_name text not null,
      version text not null,
      started_at timestamptz not null default now(),
      seen_at timestamptz not null default now()
    )`.execute(db)

  await sql`
    create table api_keys (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      purpose text not null,
      key_hash text not null unique,
      scopes text[] not null default '{}',
      allowed_from jsonb not null default '[]',
      user_id uuid references users,
      created_at timestamptz not null default now(),
      expired_after timestamptz,
      last_used_at timestamptz,
      last_modified_at timestamptz not null default now(),
      deleted_at timestamptz
    )`.execute(db)
  await sql`create unique index api_keys_name on api_keys (lower(name)) where deleted_at is null`.execute(db)
  await sql`alter table sessions add foreign key (api_key_id) references api_keys`.execute(db)

  await sql`
    create table webhooks (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      url text not null,
      secret_sealed text not null,
      kinds text[] not null default '{}',
      enabled boolean not null default true,
      delivered_position bigint not null default 0,
      failing_since timestamptz,
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now()
    )`.execute(db)

  await sql`
    create table list_reads (
      acl_id uuid not null references acls,
      consumer text not null,
      etag text not null,
      read_at timestamptz not null default now(),
      primary key (acl_id, consumer)
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions drop constraint sessions_api_key_id_fkey`.execute(db)
  await sql`drop table list_reads, webhooks, api_keys, replicas, licences, settings, installation`.execute(db)
}
