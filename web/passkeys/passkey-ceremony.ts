import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import * as api from './passkey-api.ts'
import { CeremonyFailure } from './passkey-failure.ts'

/**
 * What a click on one of the passkey buttons does: options from the server, the browser's own dialog, the answer
 * back. Loaded with the first click.
 *
 * Each throws the server's refusal as it is, and `CeremonyFailure` when the browser gave no answer.
 */
export async function signInWithPasskey(realm: api.PasskeyRealm, kioskMode: boolean): Promise<void> {
  const optionsJSON = await api.fetchProofOptions(realm, 'login')
  await api.login(realm, await asked(startAuthentication({ optionsJSON })), kioskMode)
}

/** The second step of a half session. */
export async function verifyStepWithPasskey(realm: api.PasskeyRealm): Promise<void> {
  const optionsJSON = await api.fetchProofOptions(realm, 'otp')
  await api.verifyStep(realm, await asked(startAuthentication({ optionsJSON })))
}

/** Makes a passkey for the account signed in. */
export async function addPasskey(realm: api.PasskeyRealm, name: string): Promise<void> {
  const optionsJSON = await api.fetchCreationOptions(realm)
  await api.createPasskey(realm, name, await asked(startRegistration({ optionsJSON })))
}

async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw new CeremonyFailure(error)
  }
}
