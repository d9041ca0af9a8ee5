import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { listCredentials } from './passkey.query.ts'
import { openChallenge } from './passkey-challenge.service.ts'
import type { PasskeyOwner } from './passkey-owner.ts'
import { algorithms } from './passkey-verification.ts'
import { relyingPartyOf } from './relying-party.ts'
import { toUserHandleBytes } from './user-handle.ts'

type OptionDeps = Pick<Deps, 'db' | 'config'>

/** How long the browser's dialog waits, in milliseconds; as long as a half session lives. */
const timeout = 300_000

/**
 * What a browser is to ask when somebody signs in with a passkey alone: any that it has for us.
 *
 * @throws err.passkeysUnavailable
 */
export async function loginOptions(
  deps: OptionDeps,
  realm: Realm,
  browserHash: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { id } = relyingPartyOf(deps.config)
  const challenge = await openChallenge(deps, { realm, purpose: 'login', accountId: null }, browserHash)
  return generateAuthenticationOptions({
    rpID: id,
    challenge: toBytes(challenge),
    userVerification: 'required',
    timeout,
  })
}

/**
 * The same for the second step: one of the account's own.
 *
 * @throws err.passkeysUnavailable; err.invalidPasskey when the account has none
 */
export async function stepOptions(
  deps: OptionDeps,
  owner: PasskeyOwner,
  browserHash: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { id } = relyingPartyOf(deps.config)
  const credentials = await listCredentials(deps.db.grants, owner)
  // An empty list would mean: any passkey.
  if (credentials.length === 0) throw apiError('err.invalidPasskey', { detail: 'the account has no passkey' })
  const use = { realm: owner.realm, purpose: 'step', accountId: owner.id } as const
  return generateAuthenticationOptions({
    rpID: id,
    challenge: toBytes(await openChallenge(deps, use, browserHash)),
    allowCredentials: credentials,
    userVerification: 'required',
    timeout,
  })
}

/**
 * What a browser is to make a passkey from: discoverable, its owner verified, not on an authenticator that has one.
 *
 * @throws err.passkeysUnavailable
 */
export async function creationOptions(
  deps: OptionDeps,
  owner: PasskeyOwner,
  browserHash: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { id: rpID } = relyingPartyOf(deps.config)
  const { realm, id, userName } = owner
  const challenge = await openChallenge(deps, { realm, purpose: 'creation', accountId: id }, browserHash)
  return generateRegistrationOptions({
    rpName: 'Knoc',
    rpID,
    // Both realms are one relying party: in the browser's list a person tells them apart by this name.
    userName: realm === 'user' ? userName : `${userName} (admin)`,
    userDisplayName: userName,
    userID: toUserHandleBytes(id),
    challenge: toBytes(challenge),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: await listCredentials(deps.db.grants, owner),
    supportedAlgorithmIDs: algorithms,
    timeout,
  })
}

/** The library would take a text for the challenge itself and encode it once more. */
const toBytes = (challenge: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(challenge, 'base64url'))
