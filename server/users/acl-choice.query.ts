import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'

/**
 * The knocs that a list of ids means: memberships are stored for parents only, so a child's id is taken as its
 * parent's, once. Specification README "Members of a child".
 *
 * @throws err.invalidField when an id is no knoc's; Extra is its path in `field`.
 */
export async function resolveAclIds(
  db: Kysely<DB>,
  ids: readonly string[],
  field: string,
): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: string; parent: string }>`
    select a.id, coalesce(p.id, a.id) as parent
    from acls a left join acls p on p.id = a.parent_id
    where a.id = any (${[...ids]}::uuid[]) and a.deleted_at is null and p.deleted_at is null`.execute(db)
  const parents = new Map(rows.map(({ id, parent }) => [id, parent]))
  const resolved = ids.map((id, index) => {
    const parent = parents.get(id.toLowerCase())
    if (parent === undefined) throw apiError('err.invalidField', { extra: `${field}.${index}` })
    return parent
  })
  return [...new Set(resolved)]
}
