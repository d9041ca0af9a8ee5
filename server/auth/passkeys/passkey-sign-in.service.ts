import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { admitAdmin } from '../admin-admission.service.ts'
import type { Arrival } from '../arrival.ts'
import { findObstacle } from '../credentials.service.ts'
import type { Account } from '../identity/identity.ts'
import { completeSession } from '../second-factor/complete-session.service.ts'
import { type Admitted, admitUser, type UserAdmissionDeps } from '../user-admission.service.ts'
import type { PasskeyOwner } from './passkey-owner.ts'
import { type PasskeyProof, provePasskey, refusePasskey } from './passkey-proof.service.ts'

type SignInDeps = UserAdmissionDeps & Pick<Deps, 'config'>

/** A browser's answer, and who brings it. */
export type PasskeyArrival = {
  response: AuthenticationResponseJSON
  browserHash: string | undefined
  arrival: Arrival
}

/** The complete session a passkey led to, as a cookie takes it. */
export type PasskeySession = Admitted<{ token: string; secondsLeft: number }>

/**
 * Signs in with a passkey alone: possession and the authenticator's own check of its owner are both factors. Local
 * accounts only: whom a directory or an identity provider knows, proves himself there.
 *
 * @throws err.invalidPasskey, err.loginNotPermitted, err.accountDisabled, err.tooManyRequests,
 * err.passkeysUnavailable
 */
export async function signInWithPasskey(
  deps: SignInDeps,
  realm: Realm,
  request: PasskeyArrival,
): Promise<PasskeySession> {
  const proof = toProof(request, { realm, purpose: 'login', accountId: null })
  const account = await provePasskey(deps, proof)
  if (account.authType !== 'local') {
    const reason = `an account of AuthType ${account.authType}`
    throw await refusePasskey(deps, proof, { code: 'err.loginNotPermitted', reason, account })
  }
  await checkMayEnter(deps, proof, account)
  const proven = { account, isComplete: true }
  const { session } = await (realm === 'user'
    ? admitUser(deps, proven, request.arrival)
    : admitAdmin(deps, proven, request.arrival))
  return session
}

/**
 * The second step of a half session with one of its account's passkeys.
 *
 * @throws err.invalidPasskey, err.accountDisabled, err.tooManyRequests, err.passkeysUnavailable; err.invalidSession
 * when the half session or what it has to prove ended meanwhile
 */
export async function verifyPasskeyStep(
  deps: SignInDeps,
  { realm, id, sessionId }: PasskeyOwner,
  request: PasskeyArrival,
): Promise<PasskeySession> {
  const proof = toProof(request, { realm, purpose: 'step', accountId: id })
  const account = await provePasskey(deps, proof)
  await checkMayEnter(deps, proof, account)
  return completeSession(deps, {
    visitor: { account, sessionId, stage: 'half' },
    step: 'verify',
    // The challenge was used up with the proof; what is left is that a passkey still is a second step here.
    use: async (_, current) => {
      if (!current.hasPasskey) throw apiError('err.invalidSession')
    },
    arrival: request.arrival,
  })
}

const toProof = (
  { response, browserHash, arrival }: PasskeyArrival,
  use: Pick<PasskeyProof, 'realm' | 'purpose' | 'accountId'>,
): PasskeyProof => ({
  ...use,
  response,
  browserHash,
  client: arrival.client,
  requestId: arrival.requestId,
})

async function checkMayEnter(deps: SignInDeps, proof: PasskeyProof, account: Account): Promise<void> {
  const obstacle = findObstacle(account)
  if (obstacle !== undefined)
    throw await refusePasskey(deps, proof, { code: obstacle, reason: 'the account may not sign in', account })
}
