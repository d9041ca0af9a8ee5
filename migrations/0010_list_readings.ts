import { type Kysely, sql } from 'kysely'

/** When a reader of a list came before its last time: from the two follows when it is expected next. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table list_reads add column previous_read_at timestamptz`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table list_reads drop column previous_read_at`.execute(db)
}
