import { X509Certificate } from 'node:crypto'
import samlify from 'samlify'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { AuthSettings } from '../../settings/auth-setting.query.ts'

/** Where we are found, as identity providers are told. Specification README "SAML". */
export type Endpoints = { entityId: string; consumer: string }

/** The entity id is the metadata's address. */
export function endpointsOf({ publicUrl }: Pick<AuthSettings, 'publicUrl'>, realm: Realm): Endpoints {
  const base = `${publicUrl}/api${realm === 'admin' ? '/admin' : ''}/saml`
  return { entityId: `${base}/metadata`, consumer: `${base}/acs` }
}

/** Us, as the library sees us: it writes our metadata and decrypts with our key. */
export function toServiceProvider(settings: Pick<AuthSettings, 'publicUrl' | 'saml'>, realm: Realm) {
  const { entityId, consumer } = endpointsOf(settings, realm)
  const keyPair = settings.saml[realm]?.keyPair
  const certificate = keyPair && new X509Certificate(keyPair.certificate).raw.toString('base64')
  return samlify.ServiceProvider({
    entityID: entityId,
    authnRequestsSigned: keyPair !== null && keyPair !== undefined,
    wantAssertionsSigned: true,
    nameIDFormat: [unspecifiedName],
    assertionConsumerService: [{ Binding: postBinding, Location: consumer, isDefault: true }],
    ...(keyPair &&
      certificate && {
        signingCert: certificate,
        encryptCert: certificate,
        encPrivateKey: keyPair.key.expose(),
      }),
  })
}

/** A name of whatever kind: the identity provider's administrator picks what the user name is. */
export const unspecifiedName = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'

export const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'
