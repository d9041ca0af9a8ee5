import { nextSignInStep, stepCodes } from '#machines/sign-in.machine.ts'
import { apiError, type ErrorCode } from '../../errors.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { Account } from '../identity/identity.ts'

/** Somebody who makes the second step, or looks at what it needs. */
export type Visitor = { account: Account; sessionId: string; stage: 'half' | 'complete' }

/** What the second step is for a visitor. */
export type SecondStep = 'verify' | 'enrol' | 'none'

/** Ways in that bring no second factor of their own; the others prove it elsewhere, or are machines. Portal §6. */
const authTypes = ['local', 'LDAP']

/**
 * What the second step is: of half a session what the machine says; whoever is in may still set up what his account
 * must use and hasn't.
 *
 * @throws err.forbidden for an account that has no second factor here; err.invalidSession for half a session whose
 * second factor was lifted meanwhile.
 */
export function secondStepOf({ account, stage }: Pick<Visitor, 'account' | 'stage'>): SecondStep {
  if (!authTypes.includes(account.authType)) throw apiError('err.forbidden')
  if (stage === 'complete') return account.totpEnabled && !account.totpConfirmed ? 'enrol' : 'none'
  const step = nextSignInStep(account)
  if (step === 'signedIn') throw apiError('err.invalidSession')
  return step === 'verifyingTotp' ? 'verify' : 'enrol'
}

/**
 * Refuses what belongs to another step, after something changed meanwhile.
 *
 * @throws as `secondStepOf`; err.totpVerificationRequired, err.totpEnrolmentRequired; the realm's `alreadyVerified`.
 */
export function checkStep(visitor: Pick<Visitor, 'account' | 'stage'>, wanted: SecondStep): void {
  const step = secondStepOf(visitor)
  if (step === wanted) return
  if (step === 'none') throw apiError(alreadyVerified[visitor.account.realm])
  throw apiError(step === 'verify' ? stepCodes.verifyingTotp : stepCodes.enrolling)
}

/** Who has made the second step is told so. Portal §8. */
export const alreadyVerified = {
  user: 'err.userAlreadyVerified',
  admin: 'err.alreadyVerified',
} as const satisfies Record<Realm, ErrorCode>
