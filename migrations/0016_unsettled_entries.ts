import { type Kysely, sql } from 'kysely'

/**
 * Entries whose rights have changed, but that were too many for the transaction of the change: what is left to be
 * settled stands here from the same commit on, so that it is done whoever dies. An entry may stand here more than
 * once; no row waits for another, so writing them never blocks.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table unsettled_entries (
      id bigint primary key generated always as identity,
      target_id uuid not null references targets,
      address inet not null
    )`.execute(db)
  await sql`create index unsettled_entries_keys on unsettled_entries (target_id, address)`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table unsettled_entries`.execute(db)
}
