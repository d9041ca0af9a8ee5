import { createActor } from 'xstate'
import { type SignInEvent, signInMachine, stepCodes } from '#machines/sign-in.machine.ts'

/** Where a user's sign-in stands after the server refused it with a code: the machine decides. Portal §4 "Login flow". */
export function signInStateAfter(code: string) {
  const actor = createActor(signInMachine, { input: { realm: 'user' } }).start()
  actor.send(toSignInEvent(code))
  const { value } = actor.getSnapshot()
  actor.stop()
  return value
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
