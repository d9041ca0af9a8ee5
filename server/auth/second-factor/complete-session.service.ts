import type { Kysely } from 'kysely'
import { apiError } from '../../errors.ts'
import type { DB } from '../../platform/database.types.ts'
import { hashToken } from '../../platform/random.ts'
import { endAdminSession } from '../../sessions/admin-session.service.ts'
import { findSessionOfToken } from '../../sessions/session.query.ts'
import { admitAdmin } from '../admin-admission.service.ts'
import type { Arrival } from '../arrival.ts'
import type { Account } from '../identity/identity.ts'
import { type Admitted, admitUser, type UserAdmissionDeps } from '../user-admission.service.ts'
import { checkStep, type SecondStep, type Visitor } from './second-step.ts'

/** A session that the second step made, as its cookie needs it. */
export type SecondStepSession = Admitted<{ token: string; secondsLeft: number }>

/**
 * Makes the complete session after a second step, whatever it was made with; the session that asked ends with it.
 * Within one transaction, under the account's lock, that session has to live still, the account has to ask for the
 * same step still, and `use` uses the proof up: whatever changed since the proof signs nobody in.
 *
 * @throws err.invalidSession, what `checkStep` and `use` throw, err.accountDisabled, err.invalidCredentials
 */
export async function completeSession(
  deps: UserAdmissionDeps,
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
): Promise<SecondStepSession> {
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
