/**
 * Users that an identity provider makes: they can't be edited or assigned by hand, and join no group. Console §6,
 * spec README "One name, one person" (OIDC users have all rules of SAML users).
 */
const providerTypes: readonly string[] = ['SAML', 'OIDC']

/** Whether an identity provider looks after this user. */
export const isFromProvider = ({ AuthType }: { AuthType: string }): boolean =>
  providerTypes.includes(AuthType)
