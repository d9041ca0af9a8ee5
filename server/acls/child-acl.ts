import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { findBackendType } from '../backends/backend.service.ts'
import { definitions, isPassiveType } from '../backends/definitions/index.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { findParent } from './acl.store.ts'
import type { AclRecord } from './acl-record.query.ts'

/**
 * The child of a Passive+ knoc: it opens nothing, its one order is 'refresh the list' of its parent.
 *
 * Nothing but its Config is its own. Every other field mirrors the parent's, now and at each change of the parent, but
 * that a child is hidden from users and from administrators. Specification README "Passive+".
 */
export const toChildFields = (parent: AclRecord['fields']): AclRecord['fields'] => ({
  ...parent,
  HideFromUsers: true,
  HideFromAdmins: true,
})

/** Whether an ACL tells a device to fetch its parent's list. */
export const refreshesList = (type: string, config: Readonly<Record<string, unknown>>): boolean =>
  type === definitions.panos.id && typeof config['EDLName'] === 'string'

/**
 * The ACL that a new one hangs below, held until the transaction ends; null for one that stands by itself.
 *
 * @throws err.invalidField (ParentID) for a parent that isn't there or is a child itself; for what refreshes a list and
 * has none above it; and for anything else below a list.
 */
export async function takeParent(
  tx: Kysely<DB>,
  parentId: string | null,
  { id, type, config, path }: Pick<AclRecord, 'id' | 'config'> & { type: string; path: readonly string[] },
): Promise<AclRecord | null> {
  const parent = parentId === null || parentId === id ? null : await findParent(tx, parentId)
  const parentType = parent ? await findBackendType(tx, parent.backendId) : undefined
  const isThere = parentId === null || parent !== null
  if (!isThere || refreshesList(type, config) !== isPassiveType(parentType ?? null))
    throw apiError('err.invalidField', { extra: [...path, 'ParentID'].join('.') })
  return parent
}

/** Refuses fields of a child that are its parent's to say: err.invalidField, Extra the first of them. */
export function checkMirrored(
  child: AclRecord,
  { change, path }: { change: Partial<AclRecord['fields']>; path: readonly string[] },
): void {
  const own = Object.entries(change).find(
    ([name, value]) => !isDeepStrictEqual(value, child.fields[name as keyof AclRecord['fields']]),
  )
  if (own !== undefined) throw apiError('err.invalidField', { extra: [...path, own[0]].join('.') })
}
