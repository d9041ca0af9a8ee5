import { type Kysely, sql } from 'kysely'

/**
 * What alarms and the agents' pages are told from: since when an entry is to be what it is, how long an agent that
 * can't be asked may hold it open, and how long replicas were without the database.
 *
 * An order that is given again is a new one (`ordered_at`), so a close that fails for hours would seem young;
 * `wanted_at` stays. `held_until` is the latest end any order named since the entry was last seen closed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table entries
      add column wanted_at timestamptz not null default now(),
      add column held_since timestamptz,
      add column held_until timestamptz`.execute(db)
  await sql`
    update entries set wanted_at = ordered_at, held_since = created_at, held_until = ordered_until
    where applied_generation < generation or applied_desired = 'open'`.execute(db)
  await sql`
    create index audit_events_drift on audit_events ((detail->>'targetId'), id desc) where kind = 'Drift'`.execute(
    db,
  )
  await sql`
    create table truth_gaps (
      day date primary key,
      seconds real not null check (seconds > 0),
      ended_at timestamptz not null,
      replica text not null
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table truth_gaps`.execute(db)
  await sql`drop index audit_events_drift`.execute(db)
  await sql`alter table entries drop column wanted_at, drop column held_since, drop column held_until`.execute(
    db,
  )
}
