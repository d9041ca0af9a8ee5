import { type AuthType, accountKinds } from '#server/users/account.schema.ts'

/**
 * Whether an identity provider made this user: it can't be edited or assigned by hand, and joins no group. Console
 * §6, spec README "One name, one person".
 */
export const isFromProvider = ({ AuthType: authType }: { AuthType: AuthType }): boolean =>
  accountKinds[authType].isMadeByProvider
