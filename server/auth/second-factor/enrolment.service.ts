import { stepCodes } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../../audit/audit.store.ts'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import {
  type CodeAttempt,
  countCode,
  hashRecoveryCode,
  secretPlace,
  type UseCode,
} from './code-check.service.ts'
import { replaceRecoveryCodes } from './recovery-code.store.ts'
import type { OtpSecret } from './second-factor.schema.ts'
import { confirmSecret, offerPendingSecret, readSecret } from './second-factor.store.ts'
import { secondFactorEvent } from './second-factor-audit.ts'
import { secondStepOf, type Visitor } from './second-step.ts'
import { findStep, newSeed, toOtpauthUrl } from './totp.ts'
import { formatRecoveryCode, newRecoveryCodes, parseTypedCode } from './typed-code.ts'

type EnrolmentDeps = Pick<Deps, 'db' | 'sealer'>

/**
 * The secret to set a generator up with; the same for ten minutes, so that a page that is loaded again shows what was
 * scanned.
 *
 * @throws err.alreadyVerified, err.totpVerificationRequired (a passkey is asked for first), err.forbidden,
 * err.invalidSession
 */
export async function offerSecret({ db, sealer }: EnrolmentDeps, visitor: Visitor): Promise<OtpSecret> {
  const { account } = visitor
  const step = secondStepOf(visitor)
  if (step === 'none' || account.totpConfirmed) throw apiError('err.alreadyVerified')
  if (step === 'verify') throw apiError(stepCodes.verifyingTotp)
  const place = secretPlace(account, 'totp_pending_secret')
  const pending = await offerPendingSecret(db.grants, account, sealer.seal(newSeed(), place))
  if (pending === undefined) throw apiError('err.alreadyVerified')
  const seed = sealer.open(pending, place)
  return { Secret: seed, URL: toOtpauthUrl({ userName: account.userName, seed }) }
}

/**
 * Checks the first code of a generator that is being set up. Using it up makes the secret the account's, so the same
 * code signs nobody in again, and gives the recovery codes.
 *
 * @throws err.invalidCode (also when the secret has run out), err.tooManyRequests
 */
export async function verifyFirstCode(
  deps: EnrolmentDeps,
  attempt: CodeAttempt,
): Promise<{ use: UseCode; recoveryCodes: string[] }> {
  const { account, client, requestId } = attempt
  const { pendingSecret, seed, step } = await countCode(deps, attempt, () => findPending(deps, attempt))
  const codes = newRecoveryCodes()

  async function use(tx: Parameters<UseCode>[0]): Promise<void> {
    const secret = deps.sealer.seal(seed, secretPlace(account, 'totp_secret'))
    if (!(await confirmSecret(tx, account, { pendingSecret, secret, step })))
      throw apiError('err.invalidCode')
    const hashes = codes.map((code) => hashRecoveryCode(deps, account, code))
    await replaceRecoveryCodes(tx, account, hashes)
    await writeAudit(tx, [secondFactorEvent('enrolled', account, { address: client.address })], requestId)
  }
  return { use, recoveryCodes: codes.map(formatRecoveryCode) }
}

async function findPending(
  { db, sealer }: EnrolmentDeps,
  { account, typed }: CodeAttempt,
): Promise<{ pendingSecret: string; seed: string; step: number } | undefined> {
  const code = parseTypedCode(typed)
  const stored = await readSecret(db.grants, account)
  if (code.kind !== 'totp' || stored === undefined || stored.pendingSecret === null) return undefined
  const { pendingSecret, epochSeconds } = stored
  const seed = sealer.open(pendingSecret, secretPlace(account, 'totp_pending_secret'))
  const step = findStep({ seed, code: code.code, epochSeconds, lastStep: null })
  return step === undefined ? undefined : { pendingSecret, seed, step }
}
