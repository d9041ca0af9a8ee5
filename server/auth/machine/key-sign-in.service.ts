import { type ApiKeyFacts, findApiKey } from '../../api-keys/api-key.query.ts'
import { findKeyRefusal, type KeyRefusal, keyRefusals } from '../../api-keys/api-key-check.ts'
import { recordKeyUse } from '../../api-keys/user-key.service.ts'
import { writeAudit } from '../../audit/audit.store.ts'
import { apiError, type ErrorCode } from '../../errors.ts'
import { hashToken } from '../../platform/random.ts'
import type { CreatedSession } from '../../sessions/session.service.ts'
import { findUserAccountById } from '../account.store.ts'
import type { Arrival } from '../arrival.ts'
import { findObstacle } from '../credentials.service.ts'
import { countKeyFailures } from '../failure-limits.ts'
import type { Account } from '../identity/identity.ts'
import { admitUser, type UserAdmissionDeps } from '../user-admission.service.ts'

/** Who comes, and the key that was shown. */
type KeySignIn = { presented: string | undefined; arrival: Arrival }

/** Why nobody is signed in, for the audit log, and what is said. */
type Refusal = { reason: KeyRefusal | 'userDeleted' | 'notAnApiKeyUser' | 'accountDisabled'; code: ErrorCode }

const accountRefusals = {
  userDeleted: 'err.invalidApiKey',
  notAnApiKeyUser: 'err.loginNotPermitted',
  accountDisabled: 'err.accountDisabled',
} as const satisfies Partial<Record<Refusal['reason'], ErrorCode>>

/**
 * Signs an apikey user in by a key of purpose user_auth: a machine's session, complete at once, with its grants made.
 *
 * @throws err.invalidApiKey for a key that is missing, unknown, deleted or past its end; err.apiKeyNotPermitted for
 * one of another purpose; err.addressNotAllowed, err.proxyNotTrusted; err.accountDisabled, err.loginNotPermitted;
 * err.tooManyRequests.
 */
export async function signInByKey(
  deps: UserAdmissionDeps,
  { presented, arrival }: KeySignIn,
): Promise<CreatedSession> {
  if (presented === undefined) throw apiError('err.invalidApiKey', { detail: 'no key was shown' })
  const keyHash = hashToken(presented)
  const { address } = arrival.client
  const { key, account, refusal } = await countKeyFailures(deps, { keyHash, address }, async () => {
    const verdict = await judge(deps, keyHash, arrival)
    return { ...verdict, isRight: verdict.refusal === undefined }
  })
  if (refusal !== undefined || key === undefined || account === undefined)
    throw await refuse(deps, { key, account, refusal, arrival })
  const proven = {
    account,
    isComplete: true,
    key: { id: key.id, name: key.name, use: recordKeyUse(key.id) },
  }
  const { session } = await admitUser(deps, proven, asMachine(arrival))
  return session
}

async function judge({ db }: UserAdmissionDeps, keyHash: string, { seen }: Arrival) {
  const key = await findApiKey(db.grants, keyHash)
  const account = key?.userId ? await findUserAccountById(db.grants, key.userId) : undefined
  const reason = findKeyRefusal(key, { purpose: 'user_auth', scopeOf, client: seen })
  if (reason !== undefined) return { key, account, refusal: { reason, code: keyRefusals[reason] } }
  const obstacle = findAccountRefusal(account)
  const refusal = obstacle && { reason: obstacle, code: accountRefusals[obstacle] }
  return { key, account, refusal }
}

/** The key of one user signs in nobody else. */
const scopeOf = ({ userId }: ApiKeyFacts): string => `user.auth:${userId}`

function findAccountRefusal(account: Account | undefined): keyof typeof accountRefusals | undefined {
  if (account === undefined) return 'userDeleted'
  if (account.authType !== 'apikey') return 'notAnApiKeyUser'
  return findObstacle(account) === undefined ? undefined : 'accountDisabled'
}

/** Writes down why, and makes the error that says as much of it as its receiver may know. */
async function refuse(
  { db }: UserAdmissionDeps,
  {
    key,
    account,
    refusal = { reason: 'unknown', code: 'err.invalidApiKey' },
    arrival: { client, seen, requestId },
  }: {
    key: ApiKeyFacts | undefined
    account: Account | undefined
    refusal: Refusal | undefined
    arrival: Arrival
  },
): Promise<Error> {
  const { reason, code } = refusal
  const fields = {
    IpAddress: client.address,
    ErrorMessage: code,
    ...(account && { UserName: account.userName }),
  }
  const detail = { realm: 'user', reason, ...(key && { apiKeyId: key.id, apiKey: key.name }) }
  await writeAudit(db.grants, [{ kind: 'LoginFailed', fields, detail }], requestId)
  const extra = { foreignAddress: seen.address, untrustedProxy: String(seen.viaUntrustedProxy) }[
    reason as string
  ]
  return apiError(code, { detail: reason, ...(extra !== undefined && { extra }) })
}

/** No browser: whatever cookies came along mean nothing. */
const asMachine = (arrival: Arrival): Arrival => ({
  ...arrival,
  client: { ...arrival.client, deviceTokens: { user: undefined, admin: undefined } },
})
