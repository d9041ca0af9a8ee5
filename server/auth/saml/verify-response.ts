import samlify from 'samlify'
import { apiError } from '../../errors.ts'
import type { IdpMetadata } from './idp-metadata.ts'
import { readResponseText, refusal, responseLimits, type UnverifiedResponse } from './read-response.ts'
import { validateSamlSchema } from './schema-validator.ts'
import type { toServiceProvider } from './service-provider.ts'
import { findXmlFault } from './xml-text.ts'

const { SamlLib, setSchemaValidator } = samlify
setSchemaValidator({ validate: (xml) => validateSamlSchema(xml) })

/**
 * The assertion that the identity provider signed, as text: the signed bytes themselves and nothing around them. By
 * its own signature, or by that of the response around it; decrypted before or after, whichever it was signed for.
 *
 * A signature of the response that doesn't hold beside an assertion's that does is as good as none: from the response
 * nothing is taken over.
 *
 * @throws err.authenticationFailed; err.serviceUnavailable while too many wait.
 */
export async function verifyResponse(
  response: UnverifiedResponse,
  idp: Pick<IdpMetadata, 'entityId' | 'signingCertificates'>,
  ours: ReturnType<typeof toServiceProvider>,
): Promise<string> {
  if (response.status !== 'Success') throw refusal(`status ${response.status}`)
  if (response.issuer !== undefined && response.issuer !== idp.entityId)
    throw refusal('issuer of the response is another')
  await checkSchema(response.text)
  if (!response.isEncrypted) return verifySignature(response.text, idp)

  const signedAround = response.isSigned ? findSigned(response.text, idp) : undefined
  const [whole, assertion] = await decrypt(signedAround ?? response.text, ours)
  const decrypted = readResponseText(whole)
  if (decrypted.isEncrypted) throw refusal('encrypted twice')
  await checkSchema(decrypted.text)
  if (signedAround === undefined) return verifySignature(decrypted.text, idp)
  const fault = findXmlFault(assertion, responseLimits)
  if (fault !== undefined) throw refusal(`decrypted: ${fault}`)
  return assertion
}

async function checkSchema(xml: string): Promise<void> {
  await SamlLib.isValidXml(xml).catch((error: unknown) => {
    if (error instanceof Error && error.name !== 'ApiError') throw refusal(`schema: ${error.message}`)
    throw error
  })
}

/** What the provider signed of a response; the library gives the assertion, or the whole when that is encrypted. */
function verifySignature(xml: string, idp: Pick<IdpMetadata, 'signingCertificates'>): string {
  const signed = findSigned(xml, idp)
  if (signed === undefined) throw refusal('not signed, or changed after it was signed')
  return signed
}

/** Each certificate by itself: a message without KeyInfo is checked with the first only. */
function findSigned(
  xml: string,
  { signingCertificates }: Pick<IdpMetadata, 'signingCertificates'>,
): string | undefined {
  const faults = new Set<string>()
  for (const certificate of signingCertificates) {
    try {
      const [isVerified, signed] = SamlLib.verifySignature(xml, { metadata: toMetadata(certificate) })
      if (isVerified && signed !== null) return signed
    } catch (error) {
      faults.add(error instanceof Error ? error.message.slice(0, 60) : 'unknown')
    }
  }
  if (faults.size > 0) throw refusal(`signature: ${[...faults].join(', ')}`)
  return undefined
}

async function decrypt(xml: string, ours: ReturnType<typeof toServiceProvider>): Promise<[string, string]> {
  if (ours.entitySetting.encPrivateKey === undefined)
    throw refusal('encrypted, and there is no key to decrypt with')
  try {
    return await SamlLib.decryptAssertion(ours, xml)
  } catch (cause) {
    // One answer for every fault: what padding was wrong is nobody's business.
    throw apiError('err.authenticationFailed', { detail: 'not encrypted for our key', cause })
  }
}

function toMetadata(certificate: string) {
  return samlify.IdPMetadata(
    `<EntityDescriptor entityID="idp"><IDPSSODescriptor><KeyDescriptor use="signing"><KeyInfo><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor></IDPSSODescriptor></EntityDescriptor>`,
  )
}
