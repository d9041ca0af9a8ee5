import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers'
import { z } from 'zod'
import type { StoredPasskey } from './passkey.query.ts'
import type { RelyingParty } from './relying-party.ts'

/** Signature algorithms we take: EdDSA, ES256, RS256 (IANA COSE). Every authenticator has one of them. */
export const algorithms = [-8, -7, -257]

/** What a verification says; a fault is for the log and the audit, nobody is told. */
export type Verified<Facts> = ({ isVerified: true } & Facts) | { isVerified: false; fault: string }

/** Longest fault that is written down: part of it is what the caller sent. */
const faultLength = 200

/** Verifies that a passkey signed the challenge for us, its owner present and verified by the authenticator. */
export async function verifyAssertion(
  { id, origin }: RelyingParty,
  {
    response,
    challenge,
    passkey,
  }: { response: AuthenticationResponseJSON; challenge: string; passkey: StoredPasskey },
): Promise<Verified<{ counter: number }>> {
  return faultsOf<{ counter: number }>(async () => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      // The counter is compared where it is stored, so that two answers at once can't both be the next one.
      credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    })
    return verified
      ? { isVerified: true, counter: authenticationInfo.newCounter }
      : { isVerified: false, fault: 'the signature is wrong' }
  })
}

/** Verifies a new passkey's answer to the challenge. */
export async function verifyCreation(
  { id, origin }: RelyingParty,
  { response, challenge }: { response: RegistrationResponseJSON; challenge: string },
): Promise<Verified<{ publicKey: Uint8Array; counter: number }>> {
  return faultsOf<{ publicKey: Uint8Array; counter: number }>(async () => {
    if (!isUnattested(response))
      return { isVerified: false, fault: 'it is attested, which was not asked for' }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified) return { isVerified: false, fault: 'the attestation is wrong' }
    const { credential } = registrationInfo
    if (credential.id !== response.id) return { isVerified: false, fault: 'it names another credential' }
    return { isVerified: true, publicKey: credential.publicKey, counter: credential.counter }
  })
}

const clientDataSchema = z.object({
  challenge: z.string().regex(/^[\w-]{43}$/),
  crossOrigin: z.literal(false).optional(),
})

/** The challenge that an answer says it answers; undefined for what isn't one, or comes from a foreign frame. */
export function challengeOf(response: { clientDataJSON: string }): string | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString())
    return clientDataSchema.safeParse(json).data?.challenge
  } catch {
    return undefined
  }
}

/**
 * Attestation `none`, or the authenticator's own key for itself, which browsers let through (WebAuthn Level 3
 * §5.1.3). With a certificate chain the library would go and ask its issuers.
 */
function isUnattested({ response }: RegistrationResponseJSON): boolean {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
  const format = attestation.get('fmt')
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
}

/** The library throws at what it doesn't accept. */
async function faultsOf<Facts>(verify: () => Promise<Verified<Facts>>): Promise<Verified<Facts>> {
  try {
    return await verify()
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unreadable'
    return { isVerified: false, fault: message.slice(0, faultLength) }
  }
}
