import { type Kysely, sql } from 'kysely'

/**
 * Audit events: plain inserts in the transaction of the change they tell. One sealer behind the commits gives
 * positions and chains them (decision 25); `writer` is what it compares with the oldest running transaction.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_events (
      id bigint generated always as identity primary key,
      at timestamptz not null default clock_timestamp(),
      kind text not null,
      fields jsonb not null default '{}',
      detail jsonb,
      request_id text,
      writer xid8 not null default pg_current_xact_id(),
      position bigint unique,
      chain_hash bytea
    )`.execute(db)
  await sql`create index audit_events_at on audit_events (at desc, id desc)`.execute(db)
  await sql`create index audit_events_unsealed on audit_events (id) where position is null`.execute(db)
  await sql`
    create table audit_checkpoints (
      position bigint primary key,
      chain_hash bytea not null,
      signature bytea not null,
      at timestamptz not null default now()
    )`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table audit_checkpoints, audit_events`.execute(db)
}
