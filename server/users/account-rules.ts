import { normaliseDn } from '../auth/ldap/distinguished-name.ts'
import { apiError } from '../errors.ts'
import { type AuthType, accountKinds } from './account.schema.ts'

/** What somebody gave for an account; `dn` names the field of the distinguished name in its realm. */
type GivenFields = {
  authType: AuthType
  password: string | undefined
  secondFactor: boolean | undefined
  distinguishedName: { field: 'DN' | 'ThirdPartyAuth'; value: string | null | undefined }
}

/**
 * Refuses what an account of this AuthType doesn't have: a password of its own, a second factor, a distinguished
 * name. Console §5.
 *
 * @throws err.invalidField, Extra the field
 */
export function checkKindFields({ authType, password, secondFactor, distinguishedName }: GivenFields): void {
  const { hasPassword, hasSecondFactor, hasDistinguishedName } = accountKinds[authType]
  const wrong = [
    { isWrong: !hasPassword && Boolean(password), field: 'PlainPassword' },
    { isWrong: !hasSecondFactor && secondFactor === true, field: 'TOTPEnabled' },
    { isWrong: !hasDistinguishedName && Boolean(distinguishedName.value), field: distinguishedName.field },
  ].find(({ isWrong }) => isWrong)
  if (wrong !== undefined) throw apiError('err.invalidField', { extra: wrong.field })
}

/**
 * A directory's account needs its distinguished name, unless a service account searches for it. Console §5.
 *
 * @throws err.distinguishedNameRequired, err.invalidField for what is no name (RFC 4514); Extra the field
 */
export function checkDistinguishedName(
  authType: AuthType,
  { field, value }: GivenFields['distinguishedName'],
  directorySearches: boolean,
): void {
  if (accountKinds[authType].hasDistinguishedName && !value && !directorySearches)
    throw apiError('err.distinguishedNameRequired', { extra: field })
  if (value && normaliseDn(value) === undefined) throw apiError('err.invalidField', { extra: field })
}

/** Refuses another value of a field that is fixed; err.invalidField, Extra the field. */
export function checkFixed(field: string, given: string | undefined, present: string): void {
  if (given !== undefined && given !== present) throw apiError('err.invalidField', { extra: field })
}
