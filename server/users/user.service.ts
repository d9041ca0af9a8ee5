import type { Kysely } from 'kysely'
import { createUserKey } from '../api-keys/user-key.service.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { hashNewPassword } from '../auth/passwords/new-password.service.ts'
import { resetSecondFactor } from '../auth/second-factor/reset-second-factor.service.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { findLicenceLimits } from '../sessions/licence-limits.query.ts'
import { endOtherSessions, shortenUserSessions } from '../sessions/session.service.ts'
import { directorySearches } from '../settings/auth-setting.query.ts'
import { accountKinds } from './account.schema.ts'
import { resolveAclIds } from './acl-choice.query.ts'
import { userEtag } from './user.answer.ts'
import { getUser, type UserView } from './user.query.ts'
import type { UserCreate, UserCreated, UserUpdate } from './user.schema.ts'
import { insertUser, markUserDeleted, replaceUserAcls, updateUserRow } from './user.store.ts'
import { checkUserAllowance } from './user-allowance.service.ts'
import {
  changedFields,
  checkNewUser,
  checkUserChange,
  toChanges,
  toInstant,
  type UserRuleFacts,
} from './user-rules.ts'

/**
 * Makes a user with its knocs, an apikey user with its key, in one transaction.
 *
 * @throws err.userLimitReached, err.userNameTaken, err.apiKeyNameTaken, err.passwordLength,
 * err.distinguishedNameRequired, err.invalidField
 */
export async function createUser(
  { db, passwords }: Pick<Deps, 'db' | 'passwords'>,
  { request, by, requestId }: Acting & { request: UserCreate },
): Promise<UserCreated> {
  checkNewUser(request, await readFacts(db.grants))
  const aclIds = await resolveAclIds(db.grants, request.AclIds ?? [], 'AclIds')
  const passwordHash =
    request.PlainPassword === undefined
      ? null
      : await hashNewPassword(
          { passwords },
          { password: request.PlainPassword, userName: request.UserName, field: 'PlainPassword' },
        )
  return inTransaction(db.grants, async (tx) => {
    await checkUserAllowance(tx)
    const userName = request.UserName
    const id = await insertUser(tx, {
      name: request.Name,
      company: request.Company || null,
      userName,
      authType: request.AuthType,
      thirdPartyAuth: request.ThirdPartyAuth || null,
      passwordHash,
      loginEnabled: request.LoginEnabled,
      totpEnabled: request.TOTPEnabled,
      sessionMinutes: request.Duration,
      sessionLimit: request.SessionLimit ?? null,
      validUntil: toInstant(request.ValidUntil) ?? null,
      lastModifiedBy: by,
    })
    if (id === undefined) throw apiError('err.userNameTaken')
    await replaceUserAcls(tx, id, aclIds)
    const detail = { userId: id, authType: request.AuthType, aclIds }
    await tell(tx, 'CreateUser', { userName, by, requestId, detail })
    if (request.ApiKey === undefined) return { ID: id }
    const key = { userId: id, userName, key: request.ApiKey, by, requestId }
    return { ID: id, PlaintextKey: await createUserKey(tx, key) }
  })
}

/**
 * Changes a user: absent fields stay, AclIds are the whole list. A nearer ValidUntil and a shorter Duration shorten
 * what is open, at once; later and longer ones hold from the next sign-in. A new password or a disabled account ends
 * the user's sessions. That a second factor is needed is asked at the next sign-in, and a smaller SessionLimit counts
 * there; neither ends anything.
 *
 * @returns the new version's ETag.
 * @throws err.notFound, err.changedMeanwhile, err.forbidden (identity providers' users),
 * err.distinguishedNameRequired, err.invalidField
 */
export async function updateUser(
  { db, rights, passwords }: Pick<Deps, 'db' | 'rights' | 'passwords'>,
  change: Acting & { id: string; request: UserUpdate; ifMatch: string | null },
): Promise<string> {
  const { id, request, ifMatch, by, requestId } = change
  const facts = await readFacts(db.grants)
  const aclIds = request.AclIds && (await resolveAclIds(db.grants, request.AclIds, 'AclIds'))
  const passwordHash =
    request.PlainPassword &&
    (await hashNewPassword(
      { passwords },
      {
        password: request.PlainPassword,
        userName: (await getUser(db.grants, id)).userName,
        field: 'PlainPassword',
      },
    ))

  return rights.change({ users: [id] }, 'userChanged', async (tx) => {
    const before = await getUser(tx, id)
    checkUnchanged(ifMatch, userEtag(before))
    checkUserChange(before, request, { ...facts, aclIds })
    await updateUserRow(tx, id, toChanges(before, request, passwordHash || undefined), by)
    const acls = aclIds && (await replaceUserAcls(tx, id, aclIds))
    await shortenUserSessions(tx, { userId: id, ...toShorter(before, request) })
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

/**
 * Takes a user's second factor away and ends his sessions with their grants. Console §2 "Users".
 *
 * @throws err.notFound, err.forbidden (AuthType) for accounts that have none
 */
export async function resetUserSecondFactor(
  { rights }: Pick<Deps, 'rights'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  await rights.change({ users: [id] }, 'userChanged', async (tx) => {
    const { userName, authType } = await getUser(tx, id)
    if (!accountKinds[authType].hasSecondFactor) throw apiError('err.forbidden', { extra: 'AuthType' })
    await resetSecondFactor(tx, { realm: 'user', id })
    await endOtherSessions(tx, { userId: id, adminName: by }, 'userChanged')
    await tell(tx, 'ResetTOTP', { userName, by, requestId, detail: { realm: 'user', userId: id } })
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

/** What a change takes away from sessions that stand; null takes nothing. */
const toShorter = ({ sessionMinutes }: UserView, { ValidUntil, Duration }: UserUpdate) => ({
  validUntil: toInstant(ValidUntil) ?? null,
  minutes: Duration !== undefined && Duration < sessionMinutes ? Duration : null,
})

async function readFacts(db: Kysely<DB>): Promise<UserRuleFacts> {
  const [licence, searches] = await Promise.all([findLicenceLimits(db), directorySearches(db)])
  return { licence, directorySearches: searches }
}

async function tell(
  tx: Kysely<DB>,
  kind: 'CreateUser' | 'UpdateUser' | 'DeleteUser' | 'ResetTOTP',
  { userName, by, requestId, detail }: Acting & { userName: string; detail: Record<string, unknown> },
): Promise<void> {
  await writeAudit(tx, [{ kind, fields: { UserName: userName, AdminName: by }, detail }], requestId)
}
