import type { Kysely } from 'kysely'
import { writeAudit } from '../../audit/audit.store.ts'
import type { Deps } from '../../context.ts'
import { type ApiError, apiError } from '../../errors.ts'
import type { DB } from '../../platform/database.types.ts'
import type { Arrival } from '../arrival.ts'
import { countCodeFailures } from '../failure-limits.ts'
import type { Account } from '../identity/identity.ts'
import { countRecoveryCodes, hasRecoveryCode, useRecoveryCode } from './recovery-code.store.ts'
import { readSecret, useStep } from './second-factor.store.ts'
import { secondFactorEvent } from './second-factor-audit.ts'
import { findStep } from './totp.ts'
import { parseTypedCode } from './typed-code.ts'

/** Uses a right code up, in the transaction that makes the session; throws when somebody else has meanwhile. */
export type UseCode = (tx: Kysely<DB>) => Promise<void>

/** Who types a code, and where. */
export type CodeAttempt = { account: Account; typed: string } & Pick<Arrival, 'client' | 'requestId'>

type CodeDeps = Pick<Deps, 'db' | 'sealer'>

/**
 * Checks a code of an account's generator or one of its recovery codes. The answer has to be called in the
 * transaction that makes the session (`Proven.secondStep`), for a code opens once.
 *
 * @throws err.invalidCode (audited), err.tooManyRequests
 */
export async function verifyCode(deps: CodeDeps, attempt: CodeAttempt): Promise<UseCode> {
  return countCode(deps, attempt, () => findUse(deps, attempt))
}

/**
 * Counts a code that isn't right, and writes it down.
 *
 * @param find undefined for a wrong code.
 * @throws err.invalidCode, err.tooManyRequests
 */
export async function countCode<Found>(
  deps: CodeDeps,
  attempt: CodeAttempt,
  find: () => Promise<Found | undefined>,
): Promise<Found> {
  const who = { ...attempt.account, client: attempt.client }
  const { found } = await countCodeFailures(deps, who, async () => {
    const found = await find()
    return { isRight: found !== undefined, found }
  })
  if (found === undefined) throw await refuseCode(deps, attempt)
  return found
}

/** Writes a wrong code down; the refusal to throw. */
export async function refuseCode(
  { db }: Pick<Deps, 'db'>,
  { account, client, requestId }: Omit<CodeAttempt, 'typed'>,
): Promise<ApiError> {
  const error = apiError('err.invalidCode')
  const where = { address: client.address, ErrorMessage: error.code }
  await writeAudit(db.grants, [secondFactorEvent('invalid', account, where)], requestId)
  return error
}

/** The place an account's secret is sealed for. */
export const secretPlace = ({ realm, id }: Account, column: 'totp_secret' | 'totp_pending_secret') => ({
  table: realm === 'user' ? 'users' : 'admins',
  column,
  id,
})

/** What is kept of a recovery code: nobody can try codes against it without the master key. */
export const hashRecoveryCode = (
  { sealer }: Pick<Deps, 'sealer'>,
  { realm, id }: Account,
  code: string,
): string => sealer.hmac('recovery code', JSON.stringify([realm, id, code]))

async function findUse(deps: CodeDeps, attempt: CodeAttempt): Promise<UseCode | undefined> {
  const { kind, ...typed } = parseTypedCode(attempt.typed)
  if (!('code' in typed)) return undefined
  return kind === 'totp' ? findStepUse(deps, attempt, typed.code) : findRecoveryUse(deps, attempt, typed.code)
}

async function findStepUse(
  { db, sealer }: CodeDeps,
  { account, client, requestId }: CodeAttempt,
  code: string,
): Promise<UseCode | undefined> {
  const stored = await readSecret(db.grants, account)
  if (stored === undefined || stored.secret === null) return undefined
  const { secret, lastStep, epochSeconds } = stored
  const seed = sealer.open(secret, secretPlace(account, 'totp_secret'))
  const step = findStep({ seed, code, epochSeconds, lastStep })
  if (step === undefined) return undefined
  return async (tx) => {
    if (!(await useStep(tx, account, { secret, step }))) throw apiError('err.invalidCode')
    await writeAudit(tx, [secondFactorEvent('valid', account, { address: client.address })], requestId)
  }
}

async function findRecoveryUse(
  deps: CodeDeps,
  { account, client, requestId }: CodeAttempt,
  code: string,
): Promise<UseCode | undefined> {
  const hash = hashRecoveryCode(deps, account, code)
  if (!(await hasRecoveryCode(deps.db.grants, account, hash))) return undefined
  return async (tx) => {
    if (!(await useRecoveryCode(tx, account, hash))) throw apiError('err.invalidCode')
    const detail = { left: await countRecoveryCodes(tx, account) }
    const event = secondFactorEvent('recoveryCode', account, { address: client.address, detail })
    await writeAudit(tx, [event], requestId)
  }
}
