import type { Licence } from '#machines/licence.ts'
import { apiError } from '../errors.ts'
import { accountKinds } from './account.schema.ts'
import { checkDistinguishedName, checkFixed, checkKindFields } from './account-rules.ts'
import type { UserView } from './user.query.ts'
import type { UserCreate, UserUpdate } from './user.schema.ts'
import type { UserChanges } from './user.store.ts'

/** What a rule about users depends on beside the user. */
export type UserRuleFacts = {
  licence: Licence | null
  /** A service account of the directory finds people by their name. */
  directorySearches: boolean
}

/**
 * What a new user must have: a local one a password, an apikey user its key, one of a directory its distinguished
 * name. Console §5.
 *
 * @throws err.passwordLength, err.distinguishedNameRequired, err.invalidField
 */
export function checkNewUser(request: UserCreate, { licence, directorySearches }: UserRuleFacts): void {
  const { AuthType, PlainPassword, TOTPEnabled, ApiKey } = request
  const distinguishedName = { field: 'ThirdPartyAuth', value: request.ThirdPartyAuth } as const
  checkKindFields({
    authType: AuthType,
    password: PlainPassword,
    secondFactor: TOTPEnabled,
    distinguishedName,
  })
  if (accountKinds[AuthType].hasPassword && PlainPassword === undefined)
    throw apiError('err.passwordLength', { extra: 'PlainPassword' })
  if ((AuthType === 'apikey') !== (ApiKey !== undefined))
    throw apiError('err.invalidField', { extra: 'ApiKey' })
  checkDistinguishedName(AuthType, distinguishedName, directorySearches)
  checkSessionLimit(licence, request.SessionLimit)
}

/**
 * What may be changed of a user. Of one that an identity provider makes: whether he may sign in and until when;
 * everything else is changed there (console §6). A value that is sent as it stands is no change.
 *
 * @throws err.forbidden (Extra the field), err.distinguishedNameRequired, err.invalidField
 */
export function checkUserChange(
  user: UserView,
  request: UserUpdate,
  { licence, directorySearches, aclIds }: UserRuleFacts & { aclIds: readonly string[] | undefined },
): void {
  checkFixed('UserName', request.UserName, user.userName)
  checkFixed('AuthType', request.AuthType, user.authType)
  if (accountKinds[user.authType].isMadeByProvider) return checkProviderFields(user, request, aclIds)
  const distinguishedName = { field: 'ThirdPartyAuth', value: request.ThirdPartyAuth } as const
  checkKindFields({
    authType: user.authType,
    password: request.PlainPassword,
    secondFactor: request.TOTPEnabled,
    distinguishedName,
  })
  if (request.ThirdPartyAuth !== undefined)
    checkDistinguishedName(user.authType, distinguishedName, directorySearches)
  if (request.SessionLimit !== user.sessionLimit) checkSessionLimit(licence, request.SessionLimit)
}

/** The columns that a request changes. */
export function toChanges(
  { authType }: UserView,
  request: UserUpdate,
  passwordHash: string | undefined,
): UserChanges {
  const validUntil = toInstant(request.ValidUntil)
  return {
    name: request.Name,
    ...(request.Company !== undefined && { company: request.Company || null }),
    ...(request.Duration !== undefined && { sessionMinutes: request.Duration }),
    ...(request.SessionLimit !== undefined && { sessionLimit: request.SessionLimit }),
    ...(validUntil !== undefined && { validUntil }),
    ...(request.LoginEnabled !== undefined && { loginEnabled: request.LoginEnabled }),
    ...(request.TOTPEnabled !== undefined && { totpEnabled: request.TOTPEnabled }),
    ...(request.ThirdPartyAuth !== undefined &&
      accountKinds[authType].hasDistinguishedName && { thirdPartyAuth: request.ThirdPartyAuth || null }),
    ...(passwordHash !== undefined && { passwordHash }),
  }
}

/** An instant of the wire; null and absent stay what they are. */
export const toInstant = (text: string | null | undefined): Date | null | undefined =>
  text ? new Date(text) : (text as null | undefined)

const comparedFields = [
  'name',
  'company',
  'sessionMinutes',
  'sessionLimit',
  'validUntil',
  'loginEnabled',
  'totpEnabled',
  'thirdPartyAuth',
] as const

/** Names of what a change changed, for the audit log. */
export const changedFields = (before: UserView, after: UserView): string[] =>
  comparedFields.filter((field) => String(before[field]) !== String(after[field]))

function checkProviderFields(
  user: UserView,
  request: UserUpdate,
  aclIds: readonly string[] | undefined,
): void {
  const changed = [
    { field: 'Name', isChanged: request.Name !== user.name },
    { field: 'Company', isChanged: differs(request.Company || null, user.company, request.Company) },
    { field: 'Duration', isChanged: differs(request.Duration, user.sessionMinutes) },
    { field: 'SessionLimit', isChanged: differs(request.SessionLimit, user.sessionLimit) },
    { field: 'TOTPEnabled', isChanged: differs(request.TOTPEnabled, user.totpEnabled) },
    {
      field: 'ThirdPartyAuth',
      isChanged: differs(request.ThirdPartyAuth || null, user.thirdPartyAuth, request.ThirdPartyAuth),
    },
    { field: 'PlainPassword', isChanged: Boolean(request.PlainPassword) },
    { field: 'AclIds', isChanged: aclIds !== undefined && !isSameSet(aclIds, user.aclIds) },
  ].find(({ isChanged }) => isChanged)
  if (changed !== undefined) throw apiError('err.forbidden', { extra: changed.field })
}

/** Nothing given is no change; `given` is the request's own value where `value` was made of it. */
const differs = (value: unknown, present: unknown, given: unknown = value): boolean =>
  given !== undefined && value !== present

const isSameSet = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && new Set([...left, ...right]).size === left.length

/** A user's own limit is within the licence's. Console §5. */
function checkSessionLimit(licence: Licence | null, own: number | null | undefined): void {
  const most = licence?.sessionLimit ?? null
  if (own && most !== null && own > most) throw apiError('err.invalidField', { extra: 'SessionLimit' })
}
