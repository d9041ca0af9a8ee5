import { X509Certificate } from 'node:crypto'
import { apiError } from '../../errors.ts'
import { hasStrongRsaKey } from './key-pair.ts'
import { findXmlFault } from './xml-text.ts'
import { attributeOf, childrenNamed, isNamed, parseXml, withDescendants } from './xml-tree.ts'

/** What we need to know of an identity provider. */
export type IdpMetadata = {
  entityId: string
  /** Where browsers are sent with a request (HTTP-Redirect binding). */
  signInUrl: string
  /** Certificates it signs with, DER in base64; several while it changes its key. */
  signingCertificates: readonly string[]
  wantsSignedRequests: boolean
}

/** A federation's whole list is no metadata of one provider. */
const limits = { characters: 1024 * 1024, depth: 32, elements: 20_000 }
const mostCertificates = 8
const fetchMilliseconds = 5_000

const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'

/**
 * Reads an identity provider's metadata (SAML Metadata 2.0 §2.4.3): exactly one provider, with an address for
 * HTTP-Redirect and an RSA certificate to sign with. Dates are not looked at: `validUntil` is wrong in much that
 * is in use, and an administrator chose this file.
 *
 * @throws err.samlMetadataInvalid
 */
export function readIdpMetadata(xml: string): IdpMetadata {
  const text = xml.replace(/^\uFEFF/, '').replace(/<!--[\s\S]*?-->/g, '')
  const fault = findXmlFault(text, limits)
  if (fault !== undefined) throw invalid(fault)
  try {
    return toIdpMetadata(parseXml(text))
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'unreadable')
  }
}

/**
 * Reads metadata from an address, within 5 seconds and 1 MB.
 *
 * @throws err.samlMetadataUnreachable, err.samlMetadataInvalid
 */
export async function fetchIdpMetadata(url: string): Promise<IdpMetadata> {
  if (!/^https?:\/\//i.test(url)) throw unreachable('neither http nor https')
  const text = await download(url).catch((error: unknown) => {
    throw unreachable(error instanceof Error ? error.message : 'no answer')
  })
  return readIdpMetadata(text)
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, {
    headers: { Accept: 'application/samlmetadata+xml, application/xml, text/xml, */*' },
    signal: AbortSignal.timeout(fetchMilliseconds),
  })
  if (!response.ok) throw new Error(`status ${response.status}`)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > limits.characters) throw new Error(`more than ${limits.characters} characters`)
  }
  return text + decoder.decode()
}

function toIdpMetadata(root: Element): IdpMetadata {
  const providers = withDescendants(root).filter((element) =>
    isNamed(element, 'metadata', 'IDPSSODescriptor'),
  )
  const [provider] = providers
  if (provider === undefined || providers.length > 1)
    throw new Error(`${providers.length} identity providers in place of one`)
  const owner = provider.parentNode as Element
  const entityId = isNamed(owner, 'metadata', 'EntityDescriptor') && attributeOf(owner, 'entityID')
  if (!entityId) throw new Error('no entityID')
  return {
    entityId,
    signInUrl: readSignInUrl(provider),
    signingCertificates: readSigningCertificates(provider),
    wantsSignedRequests: /^(true|1)$/.test(attributeOf(provider, 'WantAuthnRequestsSigned') ?? ''),
  }
}

function readSignInUrl(provider: Element): string {
  const service = childrenNamed(provider, 'metadata', 'SingleSignOnService').find(
    (service) => attributeOf(service, 'Binding') === redirectBinding,
  )
  const url = URL.parse(service === undefined ? '' : (attributeOf(service, 'Location') ?? ''))
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('no address for HTTP-Redirect over http or https')
  return url.href
}

function readSigningCertificates(provider: Element): string[] {
  const certificates = childrenNamed(provider, 'metadata', 'KeyDescriptor')
    .filter((key) => attributeOf(key, 'use') !== 'encryption')
    .flatMap(withDescendants)
    .filter((element) => isNamed(element, 'signature', 'X509Certificate'))
    .map(({ textContent }) => toCertificate(textContent ?? ''))
    .filter((certificate) => certificate !== undefined)
  const distinct = [...new Set(certificates)]
  if (distinct.length === 0) throw new Error('no RSA certificate of at least 2048 bits to sign with')
  if (distinct.length > mostCertificates) throw new Error(`more than ${mostCertificates} certificates`)
  return distinct
}

/** One that can't be read or is too weak counts as absent: the others may do. */
function toCertificate(base64: string): string | undefined {
  try {
    const certificate = new X509Certificate(Buffer.from(base64, 'base64'))
    return hasStrongRsaKey(certificate) ? certificate.raw.toString('base64') : undefined
  } catch {
    return undefined
  }
}

const invalid = (detail: string) => apiError('err.samlMetadataInvalid', { detail })
const unreachable = (detail: string) => apiError('err.samlMetadataUnreachable', { detail })
