import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { hashNewPassword } from '../auth/passwords/new-password.service.ts'
import { resetSecondFactor } from '../auth/second-factor/reset-second-factor.service.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { isAdminSessionLive } from '../sessions/admin-session.query.ts'
import { endOtherAdminSessions } from '../sessions/admin-session.service.ts'
import { directorySearches } from '../settings/auth-setting.query.ts'
import { adminEtag } from './admin.answer.ts'
import { type AdminView, getAdmin, hasOwner } from './admin.query.ts'
import type { AdminCreate, AdminUpdate } from './admin.schema.ts'
import { deleteAdminRow, insertAdmin, lockAdmins, updateAdminRow } from './admin.store.ts'
import { changedFields, checkAdminChange, checkNewAdmin, isAble, toChanges } from './admin-rules.ts'

/** The administrator who acts, and the session he acts in. */
export type ActingOwner = Acting & { self: { id: string; sessionId: string } }

type AdminDeps = Pick<Deps, 'db' | 'passwords'>

/**
 * Makes an administrator. They don't count against the licence.
 *
 * @throws err.userNameTaken, err.passwordLength, err.passwordsDontMatch, err.distinguishedNameRequired,
 * err.invalidField
 */
export async function createAdmin(
  { db, passwords }: AdminDeps,
  { request, by, requestId }: Acting & { request: AdminCreate },
): Promise<{ ID: string }> {
  checkNewAdmin(request, await directorySearches(db.grants))
  const passwordHash = request.PlainPassword
    ? await hashNewPassword(
        { passwords },
        { password: request.PlainPassword, userName: request.UserName, field: 'PlainPassword' },
      )
    : null
  return inTransaction(db.grants, async (tx) => {
    const id = await insertAdmin(tx, {
      name: request.Name,
      userName: request.UserName,
      authType: request.AuthType,
      thirdPartyAuth: request.DN || null,
      role: request.Role,
      passwordHash,
      totpEnabled: request.TOTPEnabled,
      loginEnabled: request.LoginEnabled,
      lastModifiedBy: by,
    })
    if (id === undefined) throw apiError('err.userNameTaken')
    const detail = { adminId: id, authType: request.AuthType, role: request.Role }
    await tell(tx, 'CreateAdmin', { userName: request.UserName, by, requestId, detail })
    return { ID: id }
  })
}

/**
 * Changes an administrator: absent fields stay. A disabled account and a new password end his sessions; who changes
 * the own password keeps the session he does it in.
 *
 * @returns the new version's ETag.
 * @throws err.notFound, err.changedMeanwhile, err.lastOwner, err.ownSecondFactor, err.passwordsDontMatch,
 * err.distinguishedNameRequired, err.invalidField
 */
export async function updateAdmin(
  { db, passwords }: AdminDeps,
  change: ActingOwner & { id: string; request: AdminUpdate; ifMatch: string | null },
): Promise<string> {
  const { id, request, ifMatch, self, by, requestId } = change
  const searches = await directorySearches(db.grants)
  const passwordHash =
    request.PlainPassword &&
    (await hashNewPassword(
      { passwords },
      {
        password: request.PlainPassword,
        userName: (await getAdmin(db.grants, id)).userName,
        field: 'PlainPassword',
      },
    ))

  return changeAdmin(db.grants, { ...change, ifMatch }, async (tx, before) => {
    checkAdminChange(before, request, { isSelf: self.id === before.id, directorySearches: searches })
    await updateAdminRow(tx, id, { changes: toChanges(before, request, passwordHash || undefined), by })
    const after = await getAdmin(tx, id)
    if (isAble(before) && !isAble(after)) await checkOwnerLeft(tx)
    if (!after.loginEnabled) await endOtherAdminSessions(tx, { adminId: id, by, requestId })
    else if (passwordHash)
      await endOtherAdminSessions(tx, { adminId: id, except: self.sessionId, by, requestId })
    const detail = {
      adminId: id,
      fields: changedFields(before, after),
      ...(passwordHash && { password: true }),
    }
    await tell(tx, 'UpdateAdmin', { userName: before.userName, by, requestId, detail })
    return adminEtag(after)
  })
}

/**
 * Deletes an administrator; his sessions end at once. Nobody deletes himself.
 *
 * @throws err.notFound, err.lastOwner, err.ownAccount
 */
export async function deleteAdmin(
  { db }: Pick<Deps, 'db'>,
  acting: ActingOwner & { id: string },
): Promise<void> {
  const { id, self, by, requestId } = acting
  await changeAdmin(db.grants, acting, async (tx, { userName, ...before }) => {
    await endOtherAdminSessions(tx, { adminId: id, by, requestId })
    await deleteAdminRow(tx, id)
    if (isAble(before)) await checkOwnerLeft(tx)
    if (self.id === before.id) throw apiError('err.ownAccount')
    await tell(tx, 'DeleteAdmin', { userName, by, requestId, detail: { adminId: id } })
  })
}

/**
 * Takes another administrator's second factor away and ends his sessions. Console §5.
 *
 * @throws err.notFound, err.ownSecondFactor
 */
export async function resetAdminSecondFactor(
  { db }: Pick<Deps, 'db'>,
  acting: ActingOwner & { id: string },
): Promise<void> {
  const { id, self, by, requestId } = acting
  await changeAdmin(db.grants, acting, async (tx, before) => {
    if (self.id === before.id) throw apiError('err.ownSecondFactor')
    await resetSecondFactor(tx, { realm: 'admin', id })
    await endOtherAdminSessions(tx, { adminId: id, by, requestId })
    const detail = { realm: 'admin', adminId: id }
    await tell(tx, 'ResetTOTP', { userName: before.userName, by, requestId, detail })
  })
}

/**
 * Changes of administrators happen one after another, each by somebody whose session still lives then: who was
 * disabled a moment ago disables nobody any more.
 */
async function changeAdmin<Result>(
  db: Kysely<DB>,
  { id, self, ifMatch = null }: ActingOwner & { id: string; ifMatch?: string | null },
  act: (tx: Kysely<DB>, before: AdminView) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (tx) => {
    await lockAdmins(tx)
    if (!(await isAdminSessionLive(tx, self.sessionId))) throw apiError('err.invalidSession')
    const before = await getAdmin(tx, id)
    checkUnchanged(ifMatch, adminEtag(before))
    return act(tx, before)
  })
}

async function checkOwnerLeft(tx: Kysely<DB>): Promise<void> {
  if (!(await hasOwner(tx))) throw apiError('err.lastOwner')
}

/** UserName is whom it happened to, AdminName who did it. */
async function tell(
  tx: Kysely<DB>,
  kind: 'CreateAdmin' | 'UpdateAdmin' | 'DeleteAdmin' | 'ResetTOTP',
  { userName, by, requestId, detail }: Acting & { userName: string; detail: Record<string, unknown> },
): Promise<void> {
  await writeAudit(tx, [{ kind, fields: { UserName: userName, AdminName: by }, detail }], requestId)
}
