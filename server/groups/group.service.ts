import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { resolveAclIds } from '../users/acl-choice.query.ts'
import { groupEtag } from './group.answer.ts'
import { type GroupView, getGroup } from './group.query.ts'
import type { GroupRequest, GroupUpdate } from './group.schema.ts'
import {
  changeAcls,
  changeMembers,
  insertGroup,
  lockGroup,
  markGroupDeleted,
  updateGroupRow,
} from './group.store.ts'
import { type ListChange, toAuditDetail, toListChange } from './list-change.ts'
import { checkAddable } from './member-choice.query.ts'

/**
 * Makes a group with its members and knocs in one transaction.
 *
 * @throws err.groupNameTaken, err.invalidField (ACLIDs, UserIDs)
 */
export async function createGroup(
  { db }: Pick<Deps, 'db'>,
  { request, by, requestId }: Acting & { request: GroupRequest },
): Promise<{ ID: string }> {
  const { members, acls } = await toChanges(
    db.grants,
    { type: request.Type, userIds: [], claimedUserIds: [], aclIds: [] },
    request,
  )
  return inTransaction(db.grants, async (tx) => {
    const description = request.Description || null
    const id = await insertGroup(tx, {
      name: request.Name,
      description,
      type: request.Type,
      lastModifiedBy: by,
    })
    if (id === undefined) throw apiError('err.groupNameTaken')
    await changeMembers(tx, id, members)
    await changeAcls(tx, id, acls)
    await tell(tx, 'CreateGroup', {
      name: request.Name,
      by,
      requestId,
      detail: toDetail(id, { members, acls }),
    })
    return { ID: id }
  })
}

/**
 * Changes a group: absent fields stay, lists are whole. What is applied are the differences to what stood when it was
 * read, so what somebody else changed at the same moment stays too; with If-Match such a change is refused instead.
 *
 * A dynamic group's list holds members of both kinds, and only those whom an administrator put there can be taken out
 * by it: members by claim stay, named or not, and stay what they are. A new name changes whose claims match at their
 * next sign-in; until then nobody comes or goes by it.
 *
 * @returns the new version's ETag.
 * @throws err.notFound, err.changedMeanwhile, err.groupNameTaken, err.invalidField (Type, ACLIDs, UserIDs)
 */
export async function updateGroup(
  { db, rights }: Pick<Deps, 'db' | 'rights'>,
  change: Acting & { id: string; request: GroupUpdate; ifMatch: string | null },
): Promise<string> {
  const { id, request, ifMatch, by, requestId } = change
  const read = await getGroup(db.grants, id)
  if (request.Type !== undefined && request.Type !== read.type)
    throw apiError('err.invalidField', { extra: 'Type' })
  const { members, acls } = await toChanges(db.grants, read, request)
  const scope = { users: [...members.added, ...members.removed], acls: [...acls.added, ...acls.removed] }

  return rights.change(scope, 'groupChanged', async (tx) => {
    await lockGroup(tx, id)
    checkUnchanged(ifMatch, groupEtag(await getGroup(tx, id)))
    const description = request.Description === undefined ? {} : { description: request.Description || null }
    const isFree = await updateGroupRow(tx, id, { name: request.Name, ...description, lastModifiedBy: by })
    if (!isFree) throw apiError('err.groupNameTaken')
    await changeMembers(tx, id, members)
    await changeAcls(tx, id, acls)
    await tell(tx, 'UpdateGroup', {
      name: request.Name,
      by,
      requestId,
      detail: toDetail(id, { members, acls }),
    })
    return groupEtag(await getGroup(tx, id))
  })
}

/**
 * Deletes a group; what its members have by no other way closes.
 *
 * @throws err.notFound; err.changedMeanwhile when it was given another knoc at the same moment
 */
export async function deleteGroup(
  { db, rights }: Pick<Deps, 'db' | 'rights'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  const { aclIds } = await getGroup(db.grants, id)
  await rights.change({ acls: aclIds }, 'groupChanged', async (tx) => {
    await lockGroup(tx, id)
    const group = await getGroup(tx, id)
    if (toListChange(aclIds, group.aclIds).added.length > 0) throw apiError('err.changedMeanwhile')
    await markGroupDeleted(tx, id, by)
    await tell(tx, 'DeleteGroup', { name: group.name, by, requestId, detail: { groupId: id } })
  })
}

async function toChanges(
  db: Kysely<DB>,
  group: Pick<GroupView, 'type' | 'userIds' | 'claimedUserIds' | 'aclIds'>,
  request: Pick<GroupUpdate, 'ACLIDs' | 'UserIDs'>,
): Promise<{ members: ListChange; acls: ListChange }> {
  const userIds = request.UserIDs?.map((id) => id.toLowerCase())
  const wanted = toListChange(group.userIds, userIds)
  // Members of a SAML group come and go by their claims alone.
  if (group.type === 'saml' && wanted.added.length + wanted.removed.length > 0)
    throw apiError('err.invalidField', { extra: 'UserIDs' })
  const claimed = new Set(group.claimedUserIds)
  const members = { ...wanted, removed: wanted.removed.filter((id) => !claimed.has(id)) }
  await checkAddable(db, members.added, userIds ?? [])
  const aclIds = request.ACLIDs && (await resolveAclIds(db, request.ACLIDs, 'ACLIDs'))
  return { members, acls: toListChange(group.aclIds, aclIds) }
}

const toDetail = (groupId: string, { members, acls }: { members: ListChange; acls: ListChange }) => ({
  groupId,
  members: toAuditDetail(members),
  acls: toAuditDetail(acls),
})

async function tell(
  tx: Kysely<DB>,
  kind: 'CreateGroup' | 'UpdateGroup' | 'DeleteGroup',
  { name, by, requestId, detail }: Acting & { name: string; detail: Record<string, unknown> },
): Promise<void> {
  await writeAudit(tx, [{ kind, fields: { AdminName: by, Description: name }, detail }], requestId)
}
