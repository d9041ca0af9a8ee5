import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { PassivePlusPart } from './acl.schema.ts'

/** The part that the ACL under this alias plays, on a backend of this type. */
export const passivePlusPart = (alias: string, type: RawBuilder<unknown>): RawBuilder<PassivePlusPart> => {
  const acl = sql.table(alias)
  return sql`case
    when ${type} = 'panos' and ${acl}.parent_id is not null then 'child'
    when ${type} = 'allowlist' and exists (
      select from acls child where child.parent_id = ${acl}.id and child.deleted_at is null) then 'parent'
    end`
}

/** The Passive+ knoc that one of these ACLs is a part of, by its name; undefined when none is. */
export async function findWholeKnoc(db: Kysely<DB>, aclIds: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ description: string }>`
    select whole.description
    from acls a join backends b on b.id = a.backend_id join acls whole on whole.id = coalesce(a.parent_id, a.id)
    where a.id = any (${[...aclIds]}::uuid[]) and a.deleted_at is null
      and ${passivePlusPart('a', sql`b.type`)} is not null
    order by whole.description limit 1`.execute(db)
  return rows[0]?.description
}

/** These ACLs with their parents and children: what is locked together, as one's change is written into the others. */
export async function listFamily(db: Kysely<DB>, aclIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with own as (select id, parent_id from acls where id = any (${[...aclIds]}::uuid[]))
    select id from own
    union select parent_id from own where parent_id is not null
    union select c.id from acls c join own on c.parent_id = coalesce(own.parent_id, own.id)
    where c.deleted_at is null`.execute(db)
  return [...new Set([...aclIds, ...rows.map(({ id }) => id)])]
}
