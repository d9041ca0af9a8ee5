import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Deps } from '../../context.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { admitAdmin } from '../admin-admission.service.ts'
import type { Arrival } from '../arrival.ts'
import { findObstacle } from '../credentials.service.ts'
import type { Account } from '../identity/identity.ts'
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
  return admit(deps, { account, proof, arrival: request.arrival })
}

/**
 * The second step of a half session with one of its account's passkeys.
 *
 * @throws err.invalidPasskey, err.accountDisabled, err.tooManyRequests, err.passkeysUnavailable
 */
export async function verifyPasskeyStep(
  deps: SignInDeps,
  { realm, id }: PasskeyOwner,
  request: PasskeyArrival,
): Promise<PasskeySession> {
  const proof = toProof(request, { realm, purpose: 'step', accountId: id })
  return admit(deps, { account: await provePasskey(deps, proof), proof, arrival: request.arrival })
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

async function admit(
  deps: SignInDeps,
  { account, proof, arrival }: { account: Account; proof: PasskeyProof; arrival: Arrival },
): Promise<PasskeySession> {
  const obstacle = findObstacle(account)
  if (obstacle !== undefined)
    throw await refusePasskey(deps, proof, { code: obstacle, reason: 'the account may not sign in', account })
  const proven = { account, isComplete: true }
  const { session } = await (account.realm === 'user'
    ? admitUser(deps, proven, arrival)
    : admitAdmin(deps, proven, arrival))
  return session
}
