import { type Kysely, sql } from 'kysely'

/**
 * Since when a session has a successor. The old one stays only until the new one holds its doors; this says so in the
 * same transaction that makes the new one, so that it ends although the process dies in between.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions add column extended_at timestamptz`.execute(db)
  await sql`
    create index sessions_extended on sessions (extended_at)
    where ended_at is null and extended_at is not null`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index sessions_extended`.execute(db)
  await sql`alter table sessions drop column extended_at`.execute(db)
}
