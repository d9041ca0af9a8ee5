import { type Kysely, sql } from 'kysely'

/** The installation's logos, for dark and for light backgrounds; served by their hash, so that browsers keep them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table logos (
      name text primary key check (name in ('Logo', 'LightModeLogo')),
      media_type text not null check (media_type in ('image/png', 'image/jpeg')),
      bytes bytea not null check (octet_length(bytes) between 1 and 524288),
      hash text not null,
      last_modified_at timestamptz not null default now(),
      last_modified_by text
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table logos`.execute(db)
}
