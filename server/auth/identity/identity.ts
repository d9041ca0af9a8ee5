import type { Kysely } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'

/** An account of either realm, as signing in sees it. */
export type Account = {
  id: string
  realm: Realm
  userName: string
  authType: string
  /** What its directory or identity provider calls it: LDAP the distinguished name, OIDC `issuer subject`. */
  thirdPartyAuth: string | null
  passwordHash: string | null
  loginEnabled: boolean
  /** Its ValidUntil has passed. Admins have none. */
  isExpired: boolean
  totpEnabled: boolean
  totpConfirmed: boolean
  hasPasskey: boolean
  /** Enrolment may still be put off. */
  deferable: boolean
}

/**
 * What an identity provider or a directory says of somebody. Specification README "SAML": attributes `realName`,
 * `groups`, `sessionDuration`; OIDC has the same claims, LDAP the groups.
 */
export type IdentityClaims = {
  /** The name to show; absent = as it stands. */
  realName?: string
  /** Names of the groups; absent = this source tells nothing of groups, memberships stay. */
  groups?: readonly string[]
  /** Session minutes; absent = as it stands. */
  sessionMinutes?: number
}

/** Whether a password is right, and what its source says of its owner. */
export type PasswordProof = { isRight: boolean; claims?: IdentityClaims }

/**
 * A source that proves who somebody is by user name and password. What comes after the proof (may he sign in,
 * second factor, session, grants) is the same for every source and no part of it; sources that prove by redirect
 * hand the account they found to the same place: `admitUser`, `admitAdmin`.
 */
export type PasswordSource = {
  /**
   * Whether the password is this account's. Without an account it takes as long and answers false.
   *
   * @throws err.directoryUnavailable when nobody could be asked; that is no failure of the person.
   */
  prove(account: Account | undefined, password: string): Promise<PasswordProof>
}

/** Somebody whose identity is proven, as `admitUser` and `admitAdmin` take it. */
export type Proven = {
  account: Account
  claims?: IdentityClaims
  /** Whether the second factor is proven too, or is the identity provider's own business. */
  isComplete: boolean
  /**
   * Uses the proof of the second step up, under the account's lock and in the transaction that makes the session;
   * `current` is the account as it stands there. What it throws signs nobody in.
   */
  secondStep?: (tx: Kysely<DB>, current: Account) => Promise<void>
  /** What the identity provider calls this sign-in, so that it can end it: OIDC `issuer sid`. */
  identitySession?: string
  /** The API key that proved it: the session is a machine's, told by Bearer token, and no browser is remembered. */
  key?: {
    id: string
    name: string
    /** Notes the use, in the transaction that makes the session. Throws when the key was withdrawn meanwhile. */
    use: (tx: Kysely<DB>) => Promise<void>
  }
}
