import { randomBytes, sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import type { SamlSettings } from '../../settings/auth-setting.query.ts'
import type { IdpMetadata } from './idp-metadata.ts'
import { type Endpoints, postBinding, unspecifiedName } from './service-provider.ts'

/** A request as the browser carries it to the identity provider. */
export type AuthnRequest = { id: string; url: string }

/**
 * Writes an AuthnRequest into the address of the identity provider (SAML Bindings 2.0 §3.4.4), signed when we have a
 * key. `kiosk` asks for the password again whoever is signed in there: on a public computer that may be somebody else.
 */
export function createAuthnRequest(
  idp: Pick<IdpMetadata, 'signInUrl'>,
  ours: Endpoints & Pick<SamlSettings, 'keyPair'>,
  { kiosk, relayState }: { kiosk: boolean; relayState: string },
): AuthnRequest {
  const id = `_${randomBytes(20).toString('hex')}`
  const xml = toXml({ id, destination: idp.signInUrl, forceAuthn: kiosk, ...ours })
  const query = new URLSearchParams({
    SAMLRequest: deflateRawSync(xml).toString('base64'),
    RelayState: relayState,
    ...(ours.keyPair && { SigAlg: signatureAlgorithm }),
  }).toString()
  const signature = ours.keyPair && sign('sha256', Buffer.from(query), ours.keyPair.key.expose())
  const separator = idp.signInUrl.includes('?') ? '&' : '?'
  return {
    id,
    url: `${idp.signInUrl}${separator}${query}${signature ? `&Signature=${encodeURIComponent(signature.toString('base64'))}` : ''}`,
  }
}

const signatureAlgorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

function toXml({
  id,
  destination,
  forceAuthn,
  entityId,
  consumer,
}: Endpoints & { id: string; destination: string; forceAuthn: boolean }): string {
  return [
    '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"',
    ' xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" Version="2.0"',
    ` ID="${id}" IssueInstant="${new Date().toISOString()}" Destination="${escapeXml(destination)}"`,
    ` ProtocolBinding="${postBinding}" AssertionConsumerServiceURL="${escapeXml(consumer)}"`,
    forceAuthn ? ' ForceAuthn="true">' : '>',
    `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer>`,
    `<samlp:NameIDPolicy Format="${unspecifiedName}" AllowCreate="true"/>`,
    '</samlp:AuthnRequest>',
  ].join('')
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
