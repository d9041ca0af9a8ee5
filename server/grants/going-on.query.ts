import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A session whose open doors a change has to move, and the knocs they belong to. */
export type GoingOn = { id: string; userId: string; userName: string; aclIds: string[] }

/**
 * Sessions that had one of these knocs open until now (`endedIds`: grants this transaction ended) or have it open, and
 * that may have it at an address for which nothing stands yet. Only a guess at what is due: `standGrants` decides.
 */
export async function listGoingOn(
  tx: Kysely<DB>,
  { acls, endedIds }: { acls: readonly string[]; endedIds: readonly string[] },
): Promise<GoingOn[]> {
  if (acls.length === 0) return []
  const { rows } = await sql<GoingOn>`
    select s.id, s.user_id, u.user_name, array_agg(distinct g.acl_id) as acl_ids
    from grants g
    join sessions s on s.id = g.session_id and s.ended_at is null and s.ends_at > statement_timestamp()
    join users u on u.id = s.user_id
    join acls a on a.id = g.acl_id and a.deleted_at is null
    where g.acl_id = any (${[...acls]}::uuid[]) and (g.ended_at is null or g.id = any (${[...endedIds]}::uuid[]))
      and g.ends_at > statement_timestamp() and is_entitled(g.user_id, g.acl_id)
      and exists (
        select from (
          select h.address, h.address as client_address from session_addresses h
          where a.grant_type = 'userIp' and h.session_id = s.id and h.left_at is null
            and (h.source = 'own' or a.cgnat_open) and (h.acl_ids is null or a.id = any (h.acl_ids))
          union all
          select fixed.address, g.client_address from unnest(a.specified_ips) as fixed (address)
          where a.grant_type = 'specifiedIps') w
        where address_allowed(a, w.client_address)
          and exists (select from acl_targets t where t.acl_id = a.id and t.family = family(w.address))
          and not exists (
            select from grants o where o.session_id = s.id and o.acl_id = a.id and o.address = w.address
              and o.ended_at is null))
    group by s.id, s.user_id, u.user_name
    order by s.id`.execute(tx)
  return rows
}
