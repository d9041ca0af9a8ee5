import { apiError } from '../../errors.ts'
import { findEncryptionFault } from './encryption-rules.ts'
import { findSignatureFault } from './signature-rules.ts'
import { findXmlFault } from './xml-text.ts'
import {
  attributeOf,
  childrenNamed,
  elementsIn,
  isNamed,
  parseXml,
  plainTextOf,
  withDescendants,
} from './xml-tree.ts'

/** A response as it came. Nothing in it may be believed; it may be refused for all of it. */
export type UnverifiedResponse = {
  text: string
  /** Which request it says to answer: enough to refuse what nobody asked for, before anything costly. */
  inResponseTo: string | undefined
  destination: string | undefined
  issuer: string | undefined
  /** The identity provider's own verdict, its last word. */
  status: string
  isSigned: boolean
  isEncrypted: boolean
}

/** A user in a thousand groups has 100 kB; honest messages are about ten levels deep. */
export const responseLimits = { characters: 256 * 1024, depth: 40, elements: 10_000 }

/**
 * Decodes the form field of the HTTP-POST binding (SAML Bindings 2.0 §3.5.4) and refuses whatever has not exactly
 * the shape of one response with one assertion, signed where signatures belong.
 *
 * @throws err.authenticationFailed
 */
export function readResponse(base64: string): UnverifiedResponse {
  return readResponseText(decode(base64))
}

/** The same for a response as text: what decryption made of it is judged anew. */
export function readResponseText(text: string): UnverifiedResponse {
  const fault = findXmlFault(text, responseLimits)
  if (fault !== undefined) throw refusal(`response: ${fault}`)
  const response = parse(text)
  const shapeFault = findShapeFault(response)
  if (shapeFault !== undefined) throw refusal(shapeFault)
  const [issuer] = childrenNamed(response, 'assertion', 'Issuer')
  return {
    text,
    inResponseTo: attributeOf(response, 'InResponseTo'),
    destination: attributeOf(response, 'Destination'),
    issuer: issuer && (plainTextOf(issuer) ?? ''),
    status: readStatus(response),
    isSigned: signaturesOf(response).length > 0,
    isEncrypted: elementsIn(response).some(({ localName }) => localName === 'EncryptedAssertion'),
  }
}

/** How every fault of a message is told: one code to whoever sent it, the reason to the audit log. */
export const refusal = (reason: string) => apiError('err.authenticationFailed', { detail: reason })

function decode(base64: string): string {
  const compact = base64.replace(/\s/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact) || compact.length % 4 !== 0)
    throw refusal('response: not base64')
  if (compact.length > (responseLimits.characters * 4) / 3)
    throw refusal(`response: longer than ${responseLimits.characters} characters`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(compact, 'base64'))
  } catch {
    throw refusal('response: not UTF-8')
  }
}

function parse(text: string): Element {
  try {
    return parseXml(text)
  } catch (error) {
    throw refusal(`response: ${error instanceof Error ? error.message.slice(0, 200) : 'unreadable'}`)
  }
}

function findShapeFault(response: Element): string | undefined {
  if (!isNamed(response, 'protocol', 'Response')) return `a ${response.localName} in place of a Response`
  const all = withDescendants(response)
  const inner = all.find((element) => element !== response && element.localName === 'Response')
  if (inner !== undefined) return `a Response at ${pathOf(inner)}`
  const assertions = all.filter(({ localName }) => /^(Encrypted)?Assertion$/.test(localName))
  if (assertions.length > 1) return `${assertions.length} assertions: ${assertions.map(pathOf).join(', ')}`
  const [assertion] = assertions
  if (assertion === undefined) return `no assertion (status ${readStatus(response)})`
  if (assertion.parentNode !== response || !isNamed(assertion, 'assertion', assertion.localName))
    return `assertion at ${pathOf(assertion)}`
  const isEncrypted = assertion.localName === 'EncryptedAssertion'
  return (
    findRepeatedId(all) ??
    findStraySignature(all, isEncrypted ? [response] : [response, assertion]) ??
    (isEncrypted ? findEncryptionFault(assertion) : undefined)
  )
}

function findStraySignature(all: readonly Element[], mayBeSigned: readonly Element[]): string | undefined {
  for (const signature of all.filter(({ localName }) => localName === 'Signature')) {
    const signed = mayBeSigned.find((element) => element === signature.parentNode)
    if (signed === undefined || !isNamed(signature, 'signature', 'Signature'))
      return `signature at ${pathOf(signature)}`
    const fault = findSignatureFault(signature, signed)
    if (fault !== undefined) return fault
  }
  const twice = mayBeSigned.find((element) => signaturesOf(element).length > 1)
  return twice && `${signaturesOf(twice).length} signatures at ${pathOf(twice)}`
}

function findRepeatedId(all: readonly Element[]): string | undefined {
  const ids = all.flatMap((element) =>
    Array.from(element.attributes)
      .filter(({ localName }) => localName?.toLowerCase() === 'id')
      .map(({ value }) => value),
  )
  return new Set(ids).size === ids.length ? undefined : 'an ID that stands twice'
}

function readStatus(response: Element): string {
  const [status] = childrenNamed(response, 'protocol', 'Status')
  const codes = status === undefined ? [] : withDescendants(status)
  const names = codes
    .filter((element) => isNamed(element, 'protocol', 'StatusCode'))
    .map((code) => attributeOf(code, 'Value')?.split(':').at(-1) ?? 'none')
  return names.join(' ') || 'none'
}

const signaturesOf = (element: Element) => childrenNamed(element, 'signature', 'Signature')

/** `Response/Assertion (signed)/Advice/Assertion` */
function pathOf(element: Element): string {
  const parent = element.parentNode as Element | null
  const name = `${element.localName}${signaturesOf(element).length > 0 ? ' (signed)' : ''}`
  return parent === null || parent.nodeType !== element.nodeType ? name : `${pathOf(parent)}/${name}`
}
