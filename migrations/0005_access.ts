import { type Kysely, sql } from 'kysely'

/**
 * The promise itself: grants (who may, from where, until when), entries (one address on one target: what is
 * ordered and what was seen), and `live_grants`, the one place that says when a grant counts.
 *
 * Generations come from one sequence and are never reused (decision 6). Every condition under which a right
 * lives stands in the view and nowhere else (decision 3); the auditor and the locking function read it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence generations as bigint`.execute(db)

  await sql`
    create table grants (
      id uuid primary key default gen_random_uuid(),
      session_id uuid not null references sessions,
      user_id uuid not null references users,
      acl_id uuid not null references acls,
      address inet not null,
      client_address inet not null,
      source text not null check (source in ('own', 'discovered', 'claimed', 'specified')),
      reason text not null check (reason in ('automatic', 'click')),
      created_at timestamptz not null default now(),
      ends_at timestamptz not null,
      ended_at timestamptz,
      ended_reason text
    )`.execute(db)
  await sql`
    create unique index grants_standing on grants (session_id, acl_id, address) where ended_at is null`.execute(
    db,
  )
  await sql`
    create index grants_holders on grants (acl_id, address, ends_at desc) where ended_at is null`.execute(db)
  await sql`create index grants_ended on grants (acl_id, address, ended_at) where ended_at is not null`.execute(
    db,
  )
  await sql`create index grants_user on grants (user_id) where ended_at is null`.execute(db)
  await sql`create index grants_ends on grants (ends_at) where ended_at is null`.execute(db)
  await sql`create index grants_session on grants (session_id, acl_id, created_at)`.execute(db)

  await sql`
    create table entries (
      id uuid primary key default gen_random_uuid(),
      target_id uuid not null references targets,
      address inet not null,
      bucket smallint not null generated always as (get_byte(decode(md5(host(address)), 'hex'), 0)) stored,
      desired text not null default 'closed' check (desired in ('open', 'closed')),
      until timestamptz,
      ordered_until timestamptz,
      ordered_at timestamptz not null default now(),
      order_at timestamptz,
      silence_seconds integer,
      silent_until timestamptz,
      cut boolean not null default true,
      user_name text not null default '',
      generation bigint not null default 0,
      applied_generation bigint not null default 0,
      applied_desired text check (applied_desired in ('open', 'closed')),
      outcome text check (outcome in ('verified', 'reported', 'failed')),
      seen_at timestamptz,
      error_code text,
      error_text text,
      failed_generation bigint,
      attempts integer not null default 0,
      retry_at timestamptz not null default now(),
      created_at timestamptz not null default now(),
      unique (target_id, address),
      check (desired = 'closed' or until is not null and ordered_until is not null)
    )`.execute(db)
  await sql`create index entries_unsettled on entries (target_id) where applied_generation < generation`.execute(
    db,
  )
  await sql`create index entries_ends on entries (until) where desired = 'open'`.execute(db)
  await sql`create index entries_order_at on entries (order_at) where order_at is not null`.execute(db)
  await sql`create index entries_buckets on entries (target_id, bucket) where desired = 'open'`.execute(db)
  await sql`
    create index entries_retry on entries (retry_at)
    where applied_generation < generation and failed_generation is not null`.execute(db)

  await sql`
    create function is_private(client inet) returns boolean language sql immutable parallel safe
    return client <<= inet '10.0.0.0/8' or client <<= inet '172.16.0.0/12' or client <<= inet '192.168.0.0/16'
        or client <<= inet 'fc00::/7'`.execute(db)
  // plpgsql keeps its plans for as long as the connection lives; language sql would plan anew in each statement.
  await sql`
    create function address_allowed(acl acls, client inet) returns boolean language plpgsql stable parallel safe
    as $$ begin
      case acl.restriction_type
        when 'none' then return true;
        when 'RFC1918' then return is_private(client) = (acl.rfc_type = 'allow');
        else return (acl.restriction_type = 'allowList') = exists (
          select from acl_ranges r where r.acl_id = acl.id and family(r.start_address) = family(client)
            and client between r.start_address and r.end_address);
      end case;
    end $$`.execute(db)
  await sql`
    create function is_entitled(of_user uuid, to_acl uuid) returns boolean language plpgsql stable parallel safe
    as $$ begin
      return exists (select from user_acls where user_id = of_user and acl_id = to_acl)
        or exists (
          select from group_members m
          join groups g on g.id = m.group_id and g.deleted_at is null
          join group_acls a on a.group_id = m.group_id
          where m.user_id = of_user and a.acl_id = to_acl);
    end $$`.execute(db)
  await sql`
    create view live_grants as
    select g.id, g.session_id, g.user_id, g.acl_id, g.address, g.client_address, g.source, g.reason,
      g.created_at, g.ends_at, a.silence_seconds, a.cut_connections, u.user_name
    from grants g
    join sessions s on s.id = g.session_id
    join users u on u.id = g.user_id
    join acls a on a.id = g.acl_id
    where g.ended_at is null and g.ends_at > statement_timestamp()
      and s.ended_at is null and s.ends_at > statement_timestamp() and s.stage = 'complete'
      and u.deleted_at is null and u.login_enabled and u.licensed
      and (u.valid_until is null or u.valid_until > statement_timestamp())
      and a.deleted_at is null
      and is_entitled(g.user_id, g.acl_id)
      and address_allowed(a, g.client_address)
      and (g.source <> 'specified' and a.grant_type = 'userIp'
        or g.source = 'specified' and a.grant_type = 'specifiedIps' and g.address = any (a.specified_ips))
      and (g.source not in ('discovered', 'claimed') or a.cgnat_open)
      and exists (select from licences l where l.removed_at is null)`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop view live_grants`.execute(db)
  await sql`drop function is_entitled(uuid, uuid)`.execute(db)
  await sql`drop function address_allowed(acls, inet)`.execute(db)
  await sql`drop function is_private(inet)`.execute(db)
  await sql`drop table entries, grants`.execute(db)
  await sql`drop sequence generations`.execute(db)
}
