import type { Deps } from '../../context.ts'
import { newToken } from '../../platform/random.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { findIdentityRequest, openIdentityRequest } from '../identity/identity-request.store.ts'

/** What a challenge is good for: signing in alone, the second step of an account, making a passkey for it. */
export type ChallengePurpose = 'login' | 'step' | 'creation'

/** What a challenge is bound to. */
export type ChallengeUse = {
  realm: Realm
  purpose: ChallengePurpose
  /** Whose it is; null before anybody is known. */
  accountId: string | null
}

/** Draws a challenge for a browser: 256 random bits, good once within ten minutes, for this use alone. */
export async function openChallenge(
  { db }: Pick<Deps, 'db'>,
  { realm, purpose, accountId }: ChallengeUse,
  browserHash: string,
): Promise<string> {
  const challenge = newToken()
  await openIdentityRequest(db.grants, {
    realm,
    kind: 'passkey',
    requestId: challenge,
    browserHash,
    facts: { purpose, accountId },
  })
  return challenge
}

/** Whether a challenge is open for this use by this browser. It stays open: use it up when all else was checked. */
export async function isOpenChallenge(
  { db }: Pick<Deps, 'db'>,
  challenge: string,
  { realm, purpose, accountId }: ChallengeUse,
  browserHash: string | undefined,
): Promise<boolean> {
  if (browserHash === undefined) return false
  const found = await findIdentityRequest(db.grants, {
    realm,
    kind: 'passkey',
    requestId: challenge,
    browserHash,
  })
  return found?.facts['purpose'] === purpose && found.facts['accountId'] === accountId
}
