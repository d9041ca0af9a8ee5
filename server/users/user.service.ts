import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import type { AuditKind } from '../audit/audit.events.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { endOtherSessions, shortenUserSessions } from '../sessions/session.service.ts'
import { resolveAclIds } from './acl-choice.query.ts'
import { userEtag } from './user.answer.ts'
import { getUser, type UserView } from './user.query.ts'
import type { UserCreate, UserUpdate } from './user.schema.ts'
import {
  insertUser,
  markUserDeleted,
  replaceUserAcls,
  type UserChanges,
  updateUserRow,
} from './user.store.ts'
import { checkUserAllowance } from './user-allowance.service.ts'

/**
 * Makes a user with its knocs in one transaction.
 *
 * @throws err.userLimitReached, err.userNameTaken, err.invalidField (AclIds)
 */
export async function createUser(
  { db, passwords }: Pick<Deps, 'db' | 'passwords'>,
  { request, by, requestId }: Acting & { request: UserCreate },
): Promise<{ ID: string }> {
  const aclIds = await resolveAclIds(db.grants, request.AclIds ?? [], 'AclIds')
  const passwordHash = await passwords.hashPassword(request.PlainPassword)
  return inTransaction(db.grants, async (tx) => {
    await checkUserAllowance(tx)
    const id = await insertUser(tx, {
      name: request.Name,
      company: request.Company || null,
      userName: request.UserName,
      authType: request.AuthType,
      passwordHash,
      loginEnabled: request.LoginEnabled,
      sessionMinutes: request.Duration,
      sessionLimit: request.SessionLimit ?? null,
      validUntil: toInstant(request.ValidUntil) ?? null,
      lastModifiedBy: by,
    })
    if (id === undefined) throw apiError('err.userNameTaken')
    await replaceUserAcls(tx, id, aclIds)
    await tell(tx, 'CreateUser', {
      userName: request.UserName,
      by,
      requestId,
      detail: { userId: id, aclIds },
    })
    return { ID: id }
  })
}

/**
 * Changes a user: absent fields stay, AclIds are the whole list. A nearer ValidUntil shortens what is open; a new
 * password or a disabled account ends the user's sessions.
 *
 * @returns the new version's ETag.
 * @throws err.notFound, err.changedMeanwhile, err.forbidden (identity providers' users), err.invalidField
 */
export async function updateUser(
  { db, rights, passwords }: Pick<Deps, 'db' | 'rights' | 'passwords'>,
  change: Acting & { id: string; request: UserUpdate; ifMatch: string | null },
): Promise<string> {
  const { id, request, ifMatch, by, requestId } = change
  checkEditable(await getUser(db.grants, id), request)
  const aclIds = request.AclIds && (await resolveAclIds(db.grants, request.AclIds, 'AclIds'))
  const passwordHash = request.PlainPassword && (await passwords.hashPassword(request.PlainPassword))

  return rights.change({ users: [id] }, 'userChanged', async (tx) => {
    const before = await getUser(tx, id)
    checkUnchanged(ifMatch, userEtag(before))
    await updateUserRow(tx, id, toChanges(request, passwordHash || undefined), by)
    const acls = aclIds && (await replaceUserAcls(tx, id, aclIds))
    if (request.ValidUntil) await shortenUserSessions(tx, id, new Date(request.ValidUntil))
    if (request.LoginEnabled === false || passwordHash)
      await endOtherSessions(tx, { userId: id, adminName: by }, 'userChanged')
    const after = await getUser(tx, id)
    const detail = {
      userId: id,
      fields: changedFields(before, after),
      ...(passwordHash && { password: true }),
      ...acls,
    }
    await tell(tx, 'UpdateUser', { userName: before.userName, by, requestId, detail })
    return userEtag(after)
  })
}

/** Deletes a user: its sessions and doors close, its name is free at once. Throws err.notFound. */
export async function deleteUser(
  { rights }: Pick<Deps, 'rights'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  await rights.change({ users: [id] }, 'userChanged', async (tx) => {
    const { userName } = await getUser(tx, id)
    await endOtherSessions(tx, { userId: id, adminName: by }, 'userChanged')
    await markUserDeleted(tx, id, by)
    await tell(tx, 'DeleteUser', { userName, by, requestId, detail: { userId: id } })
  })
}

/** Users that an identity provider makes are changed there; a name and an AuthType are fixed. */
function checkEditable(user: UserView, request: UserUpdate): void {
  if (['SAML', 'OIDC'].includes(user.authType)) throw apiError('err.forbidden', { extra: 'AuthType' })
  if (request.UserName !== undefined && request.UserName !== user.userName)
    throw apiError('err.invalidField', { extra: 'UserName' })
  if (request.AuthType !== undefined && request.AuthType !== user.authType)
    throw apiError('err.invalidField', { extra: 'AuthType' })
  if (request.PlainPassword && user.authType !== 'local')
    throw apiError('err.invalidField', { extra: 'PlainPassword' })
}

function toChanges(request: UserUpdate, passwordHash: string | undefined): UserChanges {
  const validUntil = toInstant(request.ValidUntil)
  return {
    name: request.Name,
    ...(request.Company !== undefined && { company: request.Company || null }),
    ...(request.Duration !== undefined && { sessionMinutes: request.Duration }),
    ...(request.SessionLimit !== undefined && { sessionLimit: request.SessionLimit }),
    ...(validUntil !== undefined && { validUntil }),
    ...(request.LoginEnabled !== undefined && { loginEnabled: request.LoginEnabled }),
    ...(passwordHash !== undefined && { passwordHash }),
  }
}

const toInstant = (text: string | null | undefined): Date | null | undefined =>
  text ? new Date(text) : (text as null | undefined)

const comparedFields = [
  'name',
  'company',
  'sessionMinutes',
  'sessionLimit',
  'validUntil',
  'loginEnabled',
] as const

function changedFields(before: UserView, after: UserView): string[] {
  return comparedFields.filter((field) => String(before[field]) !== String(after[field]))
}

async function tell(
  tx: Kysely<DB>,
  kind: Extract<AuditKind, 'CreateUser' | 'UpdateUser' | 'DeleteUser'>,
  { userName, by, requestId, detail }: Acting & { userName: string; detail: Record<string, unknown> },
): Promise<void> {
  await writeAudit(tx, [{ kind, fields: { UserName: userName, AdminName: by }, detail }], requestId)
}
