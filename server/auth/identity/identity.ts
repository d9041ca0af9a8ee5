import type { Realm } from '../../sessions/session-cookie.ts'

/** An account of either realm, as signing in sees it. */
export type Account = {
  id: string
  realm: Realm
  userName: string
  authType: string
  passwordHash: string | null
  loginEnabled: boolean
  /** Its ValidUntil has passed. Admins have none. */
  isExpired: boolean
  totpEnabled: boolean
  totpConfirmed: boolean
  /** Enrolment may still be put off. */
  deferable: boolean
}

/**
 * A source that proves who somebody is by user name and password. What comes after the proof (may he sign in,
 * second factor, session, grants) is the same for every source and no part of it; sources that prove by redirect
 * hand the account they found to the same place.
 */
export type PasswordSource = {
  /** Whether the password is this account's. Without an account it takes as long and answers false. */
  isRight(account: Account | undefined, password: string): Promise<boolean>
}
