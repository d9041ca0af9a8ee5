import { type Kysely, sql } from 'kysely'

/**
 * What `knoc validate` asks agents, and what they answer: a request for each agent, the lists that were answered,
 * and what stands on them. All of it is gone when the command ends. Unlogged: none of it is worth a write-ahead log
 * or a copy, and a crash may take it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create unlogged table validations (
      id uuid primary key default gen_random_uuid(),
      agent_id uuid not null unique references agents on delete cascade,
      target_ids uuid[] not null,
      requested_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz not null,
      taken_at timestamptz,
      finished_at timestamptz,
      refusal text check (refusal in ('tooOld', 'linkLost'))
    )`.execute(db)
  await sql`create index validations_waiting on validations (agent_id) where taken_at is null`.execute(db)
  await sql`
    create unlogged table validation_lists (
      validation_id uuid not null references validations on delete cascade,
      target_id uuid not null references targets on delete cascade,
      state text not null check (state in ('listed', 'unlistable', 'failed')),
      error text,
      asked_at timestamptz not null,
      answered_at timestamptz not null,
      primary key (validation_id, target_id)
    )`.execute(db)
  await sql`
    create unlogged table validation_entries (
      validation_id uuid not null references validations on delete cascade,
      target_id uuid not null references targets on delete cascade,
      address inet not null,
      remaining_seconds integer not null,
      primary key (validation_id, target_id, address)
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table validation_entries, validation_lists, validations`.execute(db)
}
