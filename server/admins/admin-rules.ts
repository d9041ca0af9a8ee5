import { apiError } from '../errors.ts'
import { accountKinds } from '../users/account.schema.ts'
import { checkDistinguishedName, checkFixed, checkKindFields } from '../users/account-rules.ts'
import type { AdminView } from './admin.query.ts'
import type { AdminCreate, AdminUpdate } from './admin.schema.ts'
import type { AdminChanges } from './admin.store.ts'

/**
 * What a new administrator must have. Console §5.
 *
 * @throws err.passwordLength, err.passwordsDontMatch, err.distinguishedNameRequired, err.invalidField
 */
export function checkNewAdmin(request: AdminCreate, directorySearches: boolean): void {
  const distinguishedName = { field: 'DN', value: request.DN } as const
  checkKindFields({
    authType: request.AuthType,
    password: request.PlainPassword,
    secondFactor: request.TOTPEnabled,
    distinguishedName,
  })
  if (accountKinds[request.AuthType].hasPassword && !request.PlainPassword)
    throw apiError('err.passwordLength', { extra: 'PlainPassword' })
  checkConfirmed(request)
  checkDistinguishedName(request.AuthType, distinguishedName, directorySearches)
}

/**
 * What may be changed of an administrator; `isSelf`: by himself, who never switches his own second factor off.
 *
 * @throws err.ownSecondFactor, err.passwordsDontMatch, err.distinguishedNameRequired, err.invalidField
 */
export function checkAdminChange(
  admin: AdminView,
  request: AdminUpdate,
  { isSelf, directorySearches }: { isSelf: boolean; directorySearches: boolean },
): void {
  checkFixed('UserName', request.UserName, admin.userName)
  checkFixed('AuthType', request.AuthType, admin.authType)
  const distinguishedName = { field: 'DN', value: request.DN } as const
  checkKindFields({
    authType: admin.authType,
    password: request.PlainPassword,
    secondFactor: request.TOTPEnabled,
    distinguishedName,
  })
  if (isSelf && admin.totpEnabled && request.TOTPEnabled === false) throw apiError('err.ownSecondFactor')
  checkConfirmed(request)
  if (request.DN !== undefined) checkDistinguishedName(admin.authType, distinguishedName, directorySearches)
}

/** Whether an administrator counts as an owner who is let in. */
export const isAble = ({ role, loginEnabled }: Pick<AdminView, 'role' | 'loginEnabled'>): boolean =>
  role === 'owner' && loginEnabled

/** The columns that a request changes; what an identity provider calls somebody is not the form's to clear. */
export const toChanges = (
  { authType }: AdminView,
  request: AdminUpdate,
  passwordHash: string | undefined,
): AdminChanges => ({
  name: request.Name,
  ...(request.DN !== undefined &&
    accountKinds[authType].hasDistinguishedName && { thirdPartyAuth: request.DN || null }),
  ...(request.TOTPEnabled !== undefined && { totpEnabled: request.TOTPEnabled }),
  ...(request.LoginEnabled !== undefined && { loginEnabled: request.LoginEnabled }),
  ...(request.Role !== undefined && { role: request.Role }),
  ...(passwordHash !== undefined && { passwordHash }),
})

const comparedFields = ['name', 'distinguishedName', 'totpEnabled', 'loginEnabled', 'role'] as const

/** Names of what a change changed, for the audit log. */
export const changedFields = (before: AdminView, after: AdminView): string[] =>
  comparedFields.filter((field) => before[field] !== after[field])

function checkConfirmed({ PlainPassword = '', ConfirmPassword }: AdminUpdate | AdminCreate): void {
  if (ConfirmPassword !== undefined && ConfirmPassword !== PlainPassword)
    throw apiError('err.passwordsDontMatch', { extra: 'ConfirmPassword' })
}
