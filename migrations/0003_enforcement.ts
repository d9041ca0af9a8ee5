import { type Kysely, sql } from 'kysely'

/**
 * What enforces: agents, configured backends, the lists (targets) on enforcement points, and the protected
 * entries (ACLs) with who may have them.
 *
 * A target is immutable: an edited backend or ACL gets a new one and the old one drains until its last entry is
 * seen closed. Nothing cascades into targets (decision 4). Two ACLs that name the same list share one target
 * (decision 5), found by its canonical key.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table agents (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      token_hash text unique,
      token_sealed text,
      token_expires_at timestamptz,
      enrolled_at timestamptz,
      public_key text,
      sealing_key text,
      machine_id text,
      last_nonce_at timestamptz,
      last_seen_at timestamptz,
      version text,
      external_ip inet,
      capabilities jsonb,
      link_epoch bigint not null default 0,
      link_replica text,
      linked_at timestamptz,
      conflict_at timestamptz,
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now(),
      deleted_at timestamptz
    )`.execute(db)
  await sql`create unique index agents_name on agents (lower(name)) where deleted_at is null`.execute(db)
  await sql`create index agents_replica on agents (link_replica) where link_replica is not null`.execute(db)

  await sql`
    create table backends (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      agent_id uuid references agents,
      type text not null,
      config jsonb not null default '{}',
      sealed jsonb not null default '{}',
      needs_credentials boolean not null default false,
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now(),
      last_modified_by text,
      deleted_at timestamptz
    )`.execute(db)
  await sql`create index backends_agent on backends (agent_id) where deleted_at is null`.execute(db)

  await sql`
    create table targets (
      id uuid primary key default gen_random_uuid(),
      key text not null,
      agent_id uuid references agents,
      backend_id uuid references backends,
      type text not null,
      family smallint check (family in (4, 6)),
      expiry text not null check (expiry in ('native', 'agent')),
      backend_config jsonb not null default '{}',
      list_config jsonb not null default '{}',
      sealed jsonb not null default '{}',
      state text not null default 'active' check (state in ('active', 'draining', 'forgotten')),
      created_at timestamptz not null default now(),
      drained_at timestamptz,
      forgotten_reason text
    )`.execute(db)
  await sql`create unique index targets_key on targets (key) where state = 'active'`.execute(db)
  await sql`create index targets_agent on targets (agent_id) where state <> 'forgotten'`.execute(db)

  await sql`
    create table acls (
      id uuid primary key default gen_random_uuid(),
      parent_id uuid references acls,
      backend_id uuid references backends,
      description text not null,
      url text,
      category text not null default 'Default',
      icon text,
      click_to_grant boolean not null default false,
      cgnat_open boolean not null default false,
      hide_from_users boolean not null default false,
      hide_from_admins boolean not null default false,
      auto_browse_users boolean not null default false,
      maximum_grant_seconds integer check (maximum_grant_seconds between 300 and 2419200),
      restriction_type text not null default 'none'
        check (restriction_type in ('none', 'RFC1918', 'allowList', 'denyList')),
      rfc_type text not null default 'allow' check (rfc_type in ('allow', 'deny')),
      grant_type text not null default 'userIp' check (grant_type in ('userIp', 'specifiedIps')),
      specified_ips inet[] not null default '{}',
      silence_seconds integer check (silence_seconds between 30 and 3600),
      cut_connections boolean not null default true,
      foreign_entries text not null default 'report' check (foreign_entries in ('report', 'remove')),
      sign_in_on_address_change boolean not null default false,
      config jsonb not null default '{}',
      sealed jsonb not null default '{}',
      created_at timestamptz not null default now(),
      last_modified_at timestamptz not null default now(),
      last_modified_by text,
      deleted_at timestamptz
    )`.execute(db)
  await sql`create index acls_backend on acls (backend_id) where deleted_at is null`.execute(db)
  await sql`create index acls_parent on acls (parent_id) where parent_id is not null`.execute(db)

  await sql`
    create table acl_ranges (
      acl_id uuid not null references acls,
      position integer not null,
      start_address inet not null,
      end_address inet not null,
      primary key (acl_id, position),
      check (family(start_address) = family(end_address) and start_address <= end_address)
    )`.execute(db)

  await sql`
    create table acl_targets (
      acl_id uuid not null references acls,
      family smallint not null check (family in (4, 6)),
      target_id uuid not null references targets,
      primary key (acl_id, family)
    )`.execute(db)
  await sql`create index acl_targets_target on acl_targets (target_id)`.execute(db)

  await sql`
    create table user_acls (
      user_id uuid not null references users,
      acl_id uuid not null references acls,
      primary key (user_id, acl_id)
    )`.execute(db)
  await sql`create index user_acls_acl on user_acls (acl_id)`.execute(db)
  await sql`
    create table group_acls (
      group_id uuid not null references groups,
      acl_id uuid not null references acls,
      primary key (group_id, acl_id)
    )`.execute(db)
  await sql`create index group_acls_acl on group_acls (acl_id)`.execute(db)

  await sql`
    create table target_reports (
      target_id uuid primary key references targets,
      checked_at timestamptz not null,
      desired integer not null,
      actual integer not null,
      "foreign" integer not null,
      error text
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table target_reports, group_acls, user_acls, acl_targets, acl_ranges, acls, targets, backends,
    agents`.execute(db)
}
