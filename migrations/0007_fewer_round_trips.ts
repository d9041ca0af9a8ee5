import { type Kysely, sql } from 'kysely'

/**
 * Two steps of every grant as one round trip each. Both are plpgsql: each statement in them has a snapshot of its
 * own (READ COMMITTED), so what follows a lock sees what the others did before it (decision 1).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function lock_granting(of_user uuid, of_session uuid, to_acls uuid[], licence_lock bigint)
    returns void language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared(licence_lock);
      perform from users where id = of_user for share;
      perform from sessions where id = of_session for no key update;
      perform pg_advisory_xact_lock_shared(hashtextextended(a.id::text, 0))
        from (select distinct id from unnest(to_acls) as u (id) order by id) a;
    end $$`.execute(db)
  await sql`
    create function lock_entries(target_ids uuid[], addresses inet[])
    returns setof entries language plpgsql as $$ begin
      insert into entries (target_id, address)
        select k.target_id, k.address
        from unnest(target_ids, addresses) with ordinality as k (target_id, address, position)
        where not exists (select from entries e where e.target_id = k.target_id and e.address = k.address)
        order by k.position
        on conflict (target_id, address) do nothing;
      return query
        select e.* from unnest(target_ids, addresses) with ordinality as k (target_id, address, position)
        join entries e on e.target_id = k.target_id and e.address = k.address
        order by k.position
        for update of e;
    end $$`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop function lock_entries(uuid[], inet[])`.execute(db)
  await sql`drop function lock_granting(uuid, uuid, uuid[], bigint)`.execute(db)
}
