import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { writeAudit } from '../../audit/audit.store.ts'
import type { Deps } from '../../context.ts'
import { apiError, type ErrorCode } from '../../errors.ts'
import { inTransaction } from '../../platform/database.ts'
import type { SignInClient } from '../../sessions/session.service.ts'
import { findAdminAccountById, findUserAccountById } from '../account.store.ts'
import { countFailures } from '../failure-limits.ts'
import type { Account } from '../identity/identity.ts'
import { useIdentityRequest } from '../identity/identity-request.store.ts'
import { findPasskey } from './passkey.query.ts'
import { markPasskeyUsed } from './passkey.store.ts'
import { type ChallengeUse, isOpenChallenge } from './passkey-challenge.service.ts'
import { challengeOf, verifyAssertion } from './passkey-verification.ts'
import { relyingPartyOf } from './relying-party.ts'
import { toUserHandle } from './user-handle.ts'

/** What a browser brings to prove who is there. */
export type PasskeyProof = Omit<ChallengeUse, 'purpose'> & {
  purpose: 'login' | 'step'
  response: AuthenticationResponseJSON
  /** Hash of the browser's pre-login cookie. */
  browserHash: string | undefined
  client: SignInClient
  requestId: string | null
}

type ProofDeps = Pick<Deps, 'db' | 'config'>
type Judgement = { isRight: true; account: Account } | { isRight: false; reason: string; account?: Account }

/**
 * The account whose passkey answered our challenge; the answer is used up with it. For a second step only that
 * account's passkeys count.
 *
 * Every refusal looks the same to the browser, counts as a failure of its address, and is audited with its reason.
 *
 * @throws err.invalidPasskey, err.tooManyRequests, err.passkeysUnavailable
 */
export async function provePasskey(deps: ProofDeps, proof: PasskeyProof): Promise<Account> {
  const { realm, response, client } = proof
  const judgement = await countFailures(deps, { realm, userName: response.id, client }, () =>
    judge(deps, proof),
  )
  if (judgement.isRight) return judgement.account
  const { account, reason } = judgement
  throw await refusePasskey(deps, proof, { code: 'err.invalidPasskey', reason, account })
}

/** Audits that a passkey lets nobody in; answers the error to throw. */
export async function refusePasskey(
  { db }: Pick<Deps, 'db'>,
  { realm, purpose, client, requestId }: Omit<PasskeyProof, 'response' | 'browserHash'>,
  { code, reason, account }: { code: ErrorCode; reason: string; account?: Account | undefined },
): Promise<Error> {
  const name = account && { [realm === 'user' ? 'UserName' : 'AdminName']: account.userName }
  const fields = { IpAddress: client.address, ErrorMessage: code, ...name }
  const detail = { realm, way: purpose === 'login' ? 'passkey' : 'passkey as second step', reason }
  await writeAudit(db.grants, [{ kind: 'LoginFailed', fields, detail }], requestId)
  return apiError(code, { detail: reason })
}

async function judge(deps: ProofDeps, proof: PasskeyProof): Promise<Judgement> {
  const { realm, response, accountId, browserHash } = proof
  const party = relyingPartyOf(deps.config)
  const challenge = challengeOf(response.response)
  if (challenge === undefined || !(await isOpenChallenge(deps, challenge, proof, browserHash)))
    return refused('no open challenge of this browser for this')
  const passkey = await findPasskey(deps.db.grants, realm, response.id)
  if (passkey === undefined) return refused('no passkey of this realm')
  const account = await findAccount(deps, realm, passkey.accountId)
  if (account === undefined) return refused('the account is gone')
  if (accountId !== null && accountId !== account.id) return refused("another account's passkey", account)
  if (!namesOwner(proof, account)) return refused('the user handle is not the owner', account)
  const verified = await verifyAssertion(party, { response, challenge, passkey })
  if (!verified.isVerified) return refused(verified.fault, account)
  const fault = await useUp(deps, { challenge, passkeyId: passkey.id, counter: verified.counter })
  return fault === undefined ? { isRight: true, account } : refused(fault, account)
}

const refused = (reason: string, account?: Account): Judgement => ({
  isRight: false,
  reason,
  ...(account && { account }),
})

const findAccount = ({ db }: ProofDeps, realm: Account['realm'], id: string) =>
  (realm === 'user' ? findUserAccountById : findAdminAccountById)(db.grants, id)

/** Whoever is known by the passkey alone has to be named by it (WebAuthn Level 3 §7.2, step 6). */
function namesOwner({ purpose, response }: PasskeyProof, account: Account): boolean {
  const { userHandle } = response.response
  return userHandle === undefined ? purpose === 'step' : userHandle === toUserHandle(account.id)
}

/** Challenge and counter, each once over all replicas. A copy's answer uses its challenge up, too. */
async function useUp(
  { db }: ProofDeps,
  { challenge, passkeyId, counter }: { challenge: string; passkeyId: string; counter: number },
): Promise<string | undefined> {
  return inTransaction(db.grants, async (tx) => {
    if (!(await useIdentityRequest(tx, challenge))) return 'the challenge was used meanwhile'
    if (!(await markPasskeyUsed(tx, { id: passkeyId, counter }))) return 'the counter went back'
    return undefined
  })
}
