import type { Kysely } from 'kysely'
import { canDefer } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../../audit/audit.store.ts'
import { ApiError, apiError } from '../../errors.ts'
import type { DB } from '../../platform/database.types.ts'
import { findAdminAccount, findUserAccountById } from '../account.store.ts'
import type { Arrival } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import type { Account } from '../identity/identity.ts'
import { refuseCode, verifyCode } from './code-check.service.ts'
import { completeSession, type SecondStepSession } from './complete-session.service.ts'
import { verifyFirstCode } from './enrolment.service.ts'
import { countRecoveryCodes } from './recovery-code.store.ts'
import type { OtpMethods } from './second-factor.schema.ts'
import { countDeferral } from './second-factor.store.ts'
import { secondFactorEvent } from './second-factor-audit.ts'
import { alreadyVerified, checkStep, secondStepOf, type Visitor } from './second-step.ts'

/** The visitor behind a session of a realm; throws err.invalidSession when the account is gone. */
export async function findVisitor(
  { db }: Pick<AuthDeps, 'db'>,
  who:
    | ({ realm: 'user'; userId: string } & Omit<Visitor, 'account'>)
    | ({ realm: 'admin'; name: string } & Omit<Visitor, 'account'>),
): Promise<Visitor> {
  const account =
    who.realm === 'user'
      ? await findUserAccountById(db.grants, who.userId)
      : await findAdminAccount(db.grants, who.name)
  if (account === undefined) throw apiError('err.invalidSession')
  return { account, sessionId: who.sessionId, stage: who.stage }
}

/** What the second step may be made with; whoever is in learns whether he may set something up. */
export async function readMethods({ db }: Pick<AuthDeps, 'db'>, visitor: Visitor): Promise<OtpMethods> {
  const { account, stage } = visitor
  return {
    Step: secondStepOf(visitor),
    Totp: account.totpConfirmed,
    Passkey: account.hasPasskey,
    Deferable: stage === 'half' && canDefer(account),
    RecoveryCodesLeft: await countRecoveryCodes(db.grants, account),
  }
}

/**
 * Makes the second step with a code: the session becomes a complete one with another token. Enrolling it also makes
 * the secret the account's, and answers the recovery codes, which nobody sees again.
 *
 * @throws err.invalidCode, err.tooManyRequests, err.userAlreadyVerified or err.alreadyVerified, err.forbidden,
 * err.invalidSession
 */
export async function passSecondStep(
  deps: AuthDeps,
  visitor: Visitor,
  typed: string,
  arrival: Arrival,
): Promise<{ session: SecondStepSession; recoveryCodes: string[] | null }> {
  const { account } = visitor
  const step = secondStepOf(visitor)
  if (step === 'none') throw apiError(alreadyVerified[account.realm])
  const attempt = { ...arrival, account, typed }
  const { use, recoveryCodes } =
    step === 'enrol'
      ? await verifyFirstCode(deps, attempt)
      : { use: await verifyCode(deps, attempt), recoveryCodes: null }
  const session = await completeSession(deps, { visitor, step, use, arrival }).catch(
    async (error: unknown) => {
      // Somebody else was quicker with the same code: whoever looks over a shoulder leaves a trace, too.
      const isUsed = error instanceof ApiError && error.code === 'err.invalidCode'
      throw isUsed ? await refuseCode(deps, attempt) : error
    },
  )
  return { session, recoveryCodes }
}

/**
 * Puts an administrator's enrolment off: he is in, and asked again next time.
 *
 * @throws err.deferralsUsedUp; else as `passSecondStep`
 */
export async function deferEnrolment(
  deps: AuthDeps,
  visitor: Visitor,
  arrival: Arrival,
): Promise<SecondStepSession> {
  const { account, stage } = visitor
  if (stage === 'complete') throw apiError(alreadyVerified[account.realm])
  checkStep(visitor, 'enrol')

  async function use(tx: Kysely<DB>, current: Account): Promise<void> {
    if (!canDefer(current)) throw apiError('err.deferralsUsedUp')
    await countDeferral(tx, account.id)
    const event = secondFactorEvent('deferred', account, { address: arrival.client.address })
    await writeAudit(tx, [event], arrival.requestId)
  }
  return completeSession(deps, { visitor, step: 'enrol', use, arrival })
}
