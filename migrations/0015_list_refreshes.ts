import { type Kysely, sql } from 'kysely'

/**
 * Passive+: what devices were told of the lists they fetch. A row for each list of a child ACL (`target_id`), naming
 * the passive list of its parent (`list_id`) that the device fetches; it outlives both ACLs, because a deleted list has
 * to be fetched once more, empty.
 *
 * Rows follow the children by a trigger: whoever gives an ACL its lists, a new list is a device that knows nothing yet.
 * One that another took the place of has nothing to be told; one that was only taken away has.
 *
 * `generation` is the newest the device was told of. Transactions don't commit in the order of their generations: how
 * the ones before it were when it was told stands in `window_sum`, see due-refresh.query.ts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table list_refreshes (
      target_id uuid primary key references targets,
      list_id uuid not null references targets,
      generation bigint not null default 0,
      window_start bigint not null default 0,
      window_sum bigint not null default 0,
      asked_at timestamptz,
      refreshed_at timestamptz,
      error_code text,
      error_text text,
      failing_since timestamptz,
      attempts integer not null default 0,
      retry_at timestamptz,
      check ((error_code is null) = (failing_since is null))
    )`.execute(db)
  await sql`create index list_refreshes_list on list_refreshes (list_id)`.execute(db)
  await sql`create index entries_generations on entries (target_id, generation)`.execute(db)
  await sql`
    create function follow_list() returns trigger language plpgsql as $$ begin
      if tg_op = 'UPDATE' and old.target_id <> new.target_id then
        delete from list_refreshes where target_id = old.target_id
          and not exists (select from acl_targets t where t.target_id = old.target_id);
      end if;
      insert into list_refreshes as r (target_id, list_id)
        select distinct new.target_id, list.id
        from acls child join acl_targets held on held.acl_id = child.parent_id
        join targets list on list.id = held.target_id and list.agent_id is null
        where child.id = new.acl_id
        on conflict (target_id) do update set list_id = excluded.list_id, generation = 0, window_start = 0,
          window_sum = 0, asked_at = null, refreshed_at = null
          where r.list_id <> excluded.list_id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger acl_targets_follow_list after insert or update on acl_targets
    for each row execute function follow_list()`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger acl_targets_follow_list on acl_targets`.execute(db)
  await sql`drop function follow_list()`.execute(db)
  await sql`drop index entries_generations`.execute(db)
  await sql`drop table list_refreshes`.execute(db)
}
