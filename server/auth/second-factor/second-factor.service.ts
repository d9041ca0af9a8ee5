import type { Kysely } from 'kysely'
import { canDefer } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../../audit/audit.store.ts'
import { apiError } from '../../errors.ts'
import type { DB } from '../../platform/database.types.ts'
import { hashToken } from '../../platform/random.ts'
import { endAdminSession } from '../../sessions/admin-session.service.ts'
import { findSessionOfToken } from '../../sessions/session.query.ts'
import { findAdminAccount, findUserAccountById } from '../account.store.ts'
import { admitAdmin } from '../admin-admission.service.ts'
import type { Arrival } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import type { Account } from '../identity/identity.ts'
import { type Admitted, admitUser } from '../user-admission.service.ts'
import { verifyCode } from './code-check.service.ts'
import { verifyFirstCode } from './enrolment.service.ts'
import { countRecoveryCodes } from './recovery-code.store.ts'
import type { OtpMethods } from './second-factor.schema.ts'
import { countDeferral } from './second-factor.store.ts'
import { secondFactorEvent } from './second-factor-audit.ts'
import { alreadyVerified, checkStep, type SecondStep, secondStepOf, type Visitor } from './second-step.ts'

/** A session that the second step made, as its cookie needs it. */
type NewSession = Admitted<{ token: string; secondsLeft: number }>

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
): Promise<{ session: NewSession; recoveryCodes: string[] | null }> {
  const { account } = visitor
  const step = secondStepOf(visitor)
  if (step === 'none') throw apiError(alreadyVerified[account.realm])
  const attempt = { ...arrival, account, typed }
  const { use, recoveryCodes } =
    step === 'enrol'
      ? await verifyFirstCode(deps, attempt)
      : { use: await verifyCode(deps, attempt), recoveryCodes: null }
  return { session: await admit(deps, { visitor, step, use, arrival }), recoveryCodes }
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
): Promise<NewSession> {
  const { account, stage } = visitor
  if (stage === 'complete') throw apiError(alreadyVerified[account.realm])
  checkStep(visitor, 'enrol')

  async function use(tx: Kysely<DB>, current: Account): Promise<void> {
    if (!canDefer(current)) throw apiError('err.deferralsUsedUp')
    await countDeferral(tx, account.id)
    const event = secondFactorEvent('deferred', account, { address: arrival.client.address })
    await writeAudit(tx, [event], arrival.requestId)
  }
  return admit(deps, { visitor, step: 'enrol', use, arrival })
}

/** Makes the complete session; the one of the first step ends with it, and must not have ended before. */
async function admit(
  deps: AuthDeps,
  {
    visitor: { account, sessionId, stage },
    step,
    use,
    arrival,
  }: {
    visitor: Visitor
    step: SecondStep
    use: (tx: Kysely<DB>, current: Account) => Promise<void>
    arrival: Arrival
  },
): Promise<NewSession> {
  async function secondStep(tx: Kysely<DB>, current: Account): Promise<void> {
    if (!(await stands[account.realm](tx, sessionId, arrival))) throw apiError('err.invalidSession')
    checkStep({ account: current, stage }, step)
    await use(tx, current)
  }
  const proven = { account, isComplete: true, secondStep }
  const { session } = await (account.realm === 'user'
    ? admitUser(deps, proven, arrival)
    : admitAdmin(deps, proven, arrival))
  return session
}

/** Whether the session that asks is live still, so that it makes one session and no more. */
const stands = {
  /** Its row is locked by the change of rights that makes the new one. */
  user: async (tx: Kysely<DB>, sessionId: string, { replaces }: Arrival) =>
    replaces !== undefined && (await findSessionOfToken(tx, hashToken(replaces)))?.id === sessionId,
  admin: (tx: Kysely<DB>, sessionId: string) => endAdminSession(tx, sessionId, 'logout'),
}
