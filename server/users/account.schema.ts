import { z } from 'zod'

/** How an account of either realm proves who it is, as the wire names it. Specification README "Wire values". */
export const authTypes = ['local', 'LDAP', 'SAML', 'OIDC', 'apikey'] as const
export type AuthType = (typeof authTypes)[number]

/** What belongs to the accounts of an AuthType. */
type AccountKind = {
  /** We keep its password. */
  hasPassword: boolean
  /** A directory knows it by a distinguished name. */
  hasDistinguishedName: boolean
  /** We ask for its second factor; the others' is the identity provider's business, or there is no person. */
  hasSecondFactor: boolean
  /** An identity provider makes such users at their first sign-in, and says what they are called. */
  isMadeByProvider: boolean
}

/** The rules of console §5 and specification README "One name, one person", as a table. */
export const accountKinds: Readonly<Record<AuthType, AccountKind>> = {
  local: {
    hasPassword: true,
    hasDistinguishedName: false,
    hasSecondFactor: true,
    isMadeByProvider: false,
  },
  LDAP: {
    hasPassword: false,
    hasDistinguishedName: true,
    hasSecondFactor: true,
    isMadeByProvider: false,
  },
  SAML: {
    hasPassword: false,
    hasDistinguishedName: false,
    hasSecondFactor: false,
    isMadeByProvider: true,
  },
  OIDC: {
    hasPassword: false,
    hasDistinguishedName: false,
    hasSecondFactor: false,
    isMadeByProvider: true,
  },
  apikey: {
    hasPassword: false,
    hasDistinguishedName: false,
    hasSecondFactor: false,
    isMadeByProvider: false,
  },
}

/** A distinguished name; '' where there is none. */
export const distinguishedNameSchema = z.string().trim().max(1024).nullish()
