import { createActor } from 'xstate'
import { type SignInEvent, signInMachine, stepCodes } from '#machines/sign-in.machine.ts'
import type { SecondStep } from '../shell/routes.ts'

/** Where a user's sign-in stands after the server refused it with a code: the machine decides. Portal §4 "Login flow". */
export const signInStateAfter = (code: string) => after([toSignInEvent(code)]).value

/** Why a second step that took too long leads back to the login, as the machine says it: a code of the catalogue. */
export const errorAfterExpiry = (step: SecondStep): string =>
  after([toSignInEvent(stepCodes[step]), { type: 'halfSession.expired' }]).context.error ?? ''

function after(events: readonly SignInEvent[]) {
  const actor = createActor(signInMachine, { input: { realm: 'user' } }).start()
  for (const event of events) actor.send(event)
  const snapshot = actor.getSnapshot()
  actor.stop()
  return snapshot
}

/** What a refusal means to the machine. */
function toSignInEvent(code: string): SignInEvent {
  if (code === 'err.unauthorised') return { type: 'credentials.belongToAdmin' }
  if (code === stepCodes.verifyingTotp || code === stepCodes.enrolling)
    return {
      type: 'credentials.accepted',
      totpEnabled: true,
      totpConfirmed: code === stepCodes.verifyingTotp,
      hasPasskey: false,
      deferable: false,
    }
  return { type: 'credentials.refused', error: code }
}
