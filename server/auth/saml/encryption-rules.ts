import { attributeOf, withDescendants } from './xml-tree.ts'

const contentAlgorithms = [
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
]

/** Not RSA 1.5, whose padding can be asked for the key (Bleichenbacher). */
const keyAlgorithms = ['http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p']

const counts = { EncryptedData: 1, EncryptedKey: 1, EncryptionMethod: 2, CipherValue: 2, CipherReference: 0 }

/**
 * Why an encrypted assertion is not to be decrypted; undefined when it may be: one key, one content, both within it,
 * by algorithms that are known. XML Encryption 1.1 §5.
 */
export function findEncryptionFault(encrypted: Element): string | undefined {
  const parts = withDescendants(encrypted)
  const named = (name: string) => parts.filter(({ localName }) => localName === name)
  const wrong = Object.entries(counts).find(([name, count]) => named(name).length !== count)
  if (wrong !== undefined) return `encrypted assertion with ${named(wrong[0]).length} ${wrong[0]}`
  const algorithmOf = (owner: string) =>
    named('EncryptionMethod')
      .filter(({ parentNode }) => (parentNode as Element).localName === owner)
      .map((method) => attributeOf(method, 'Algorithm') ?? 'none')[0] ?? 'none'
  if (!contentAlgorithms.includes(algorithmOf('EncryptedData')))
    return `encryption algorithm ${algorithmOf('EncryptedData').slice(0, 100)}`
  if (!keyAlgorithms.includes(algorithmOf('EncryptedKey')))
    return `key encryption algorithm ${algorithmOf('EncryptedKey').slice(0, 100)}`
  // The library looks the address up with an expression that it is written into.
  const retrievals = named('RetrievalMethod').map((method) => attributeOf(method, 'URI') ?? '')
  return retrievals.every((uri) => /^#[\w.-]+$/.test(uri)) ? undefined : 'encryption key elsewhere'
}
