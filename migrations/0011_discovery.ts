import { type Kysely, sql } from 'kysely'

/**
 * Addresses that the lookup ports see, and those of a session that count for some knocs alone (`acl_ids`; null is
 * every knoc).
 *
 * A nonce proves one address at each port, and one of each family at the portal's own port: whoever replays it is
 * not seen (decision 8).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table address_sightings`.execute(db)
  await sql`
    create table address_sightings (
      nonce_hash text not null,
      session_id uuid not null references sessions on delete cascade,
      port integer not null,
      address inet not null,
      seen_at timestamptz not null default statement_timestamp()
    )`.execute(db)
  await sql`
    create unique index address_sightings_port on address_sightings (nonce_hash, port) where port > 0`.execute(
    db,
  )
  await sql`
    create unique index address_sightings_family on address_sightings (nonce_hash, family(address))
    where port = 0`.execute(db)
  await sql`create index address_sightings_session on address_sightings (session_id)`.execute(db)
  await sql`create index address_sightings_seen on address_sightings (seen_at)`.execute(db)

  await sql`alter table session_addresses add column acl_ids uuid[]`.execute(db)
  await sql`
    create index session_addresses_claimed on session_addresses (session_id)
    where source = 'claimed' and left_at is null`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index session_addresses_claimed`.execute(db)
  await sql`alter table session_addresses drop column acl_ids`.execute(db)
  await sql`drop table address_sightings`.execute(db)
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
