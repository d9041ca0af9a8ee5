import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/**
 * Standing grants of a knoc end no later than so many seconds after they were given. A grant that follows its user
 * from another address was given when the first of them was: what goes on is counted from the last one that was
 * revoked, ran out or failed in that session.
 */
export async function shortenStanding(tx: Kysely<DB>, aclId: string, seconds: number): Promise<void> {
  await sql`
    with given as (
      select g.id, coalesce((
        select min(c.created_at) from grants c
        where c.session_id = g.session_id and c.acl_id = g.acl_id and c.created_at <= g.created_at
          and c.created_at >= coalesce((
            select max(o.ended_at) from grants o
            where o.session_id = g.session_id and o.acl_id = g.acl_id
              and o.ended_reason in ('revoked', 'expired', 'failed')), '-infinity')), g.created_at) as at
      from grants g where g.acl_id = ${aclId}::uuid and g.ended_at is null)
    update grants g set ends_at = least(g.ends_at, s.at + make_interval(secs => ${seconds}))
    from given s where g.id = s.id and g.ends_at > s.at + make_interval(secs => ${seconds})`.execute(tx)
}
