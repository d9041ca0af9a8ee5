import { attributeOf, childrenNamed, isNamed, withDescendants } from './xml-tree.ts'

/** What may be believed: SHA-2 only, RSA only. The library's own list has SHA-1 on it. */
const algorithms: Record<string, { label: string; known: readonly string[] }> = {
  SignatureMethod: {
    label: 'signature algorithm',
    known: [
      'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
      'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
    ],
  },
  DigestMethod: {
    label: 'digest algorithm',
    known: ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'],
  },
  CanonicalizationMethod: {
    label: 'canonicalization',
    known: ['http://www.w3.org/2001/10/xml-exc-c14n#', 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'],
  },
  Transform: {
    label: 'transform',
    known: [
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/2001/10/xml-exc-c14n#',
      'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
    ],
  },
}

const path = ['SignedInfo', 'Reference'] as const
const once = [
  'SignedInfo',
  'CanonicalizationMethod',
  'SignatureMethod',
  'Reference',
  'DigestMethod',
  'DigestValue',
]
const never = ['Object', 'Manifest']

/**
 * Why a signature is not even to be checked; undefined when it may be: it has one reference, to the element that it
 * stands in and to all of it, by algorithms that are known, and carries nothing else. SAML Core 2.0 §5.4.
 */
export function findSignatureFault(signature: Element, signed: Element): string | undefined {
  const parts = withDescendants(signature)
  const count = (name: string) => parts.filter(({ localName }) => localName === name).length
  const repeated = once.find((name) => count(name) !== 1)
  if (repeated !== undefined) return `signature with ${count(repeated)} ${repeated}`
  const extra = never.find((name) => count(name) > 0)
  if (extra !== undefined) return `signature with an ${extra}`
  return findReferenceFault(signature, signed) ?? findAlgorithmFault(parts)
}

function findReferenceFault(signature: Element, signed: Element): string | undefined {
  const reference = path.reduce<Element | undefined>(
    (parent, name) => parent && childrenNamed(parent, 'signature', name)[0],
    signature,
  )
  const id = attributeOf(signed, 'ID')
  return id !== undefined && reference?.getAttribute('URI') === `#${id}`
    ? undefined
    : 'signature of another element than its own'
}

function findAlgorithmFault(parts: readonly Element[]): string | undefined {
  for (const part of parts) {
    const rule = isNamed(part, 'signature', part.localName) ? algorithms[part.localName] : undefined
    const algorithm = attributeOf(part, 'Algorithm') ?? 'none'
    if (rule !== undefined && !rule.known.includes(algorithm))
      return `${rule.label} ${algorithm.slice(0, 100)}`
  }
  return undefined
}
