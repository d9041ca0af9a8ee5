import { createPrivateKey, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkKeyPair, createKeyPair } from './key-pair.ts'

const [ours, other] = await Promise.all([createKeyPair('knoc.example'), createKeyPair('other.example')])

describe('a generated key pair', () => {
  it('is RSA with 3072 bits, self-signed for ten years', () => {
    const certificate = new X509Certificate(ours.certificate)
    const years =
      (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / (365.25 * 86_400_000)
    expect(certificate.subject).toBe('CN=knoc.example')
    expect(createPrivateKey(ours.key).asymmetricKeyDetails?.modulusLength).toBe(3072)
    expect(years).toBeCloseTo(10, 1)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
  })

  it('keeps a name that tries to add fields of its own as one name', async () => {
    const { certificate } = await createKeyPair('a,O=Evil')
    expect(new X509Certificate(certificate).subject).not.toMatch(/^O=/m)
  })
})

describe('an uploaded key pair', () => {
  it('is taken when both belong together', () => {
    expect(() => checkKeyPair(ours.key, ours.certificate)).not.toThrow()
  })

  it.each([
    ['another certificate', ours.key, other.certificate],
    ['a key that is none', 'hello', ours.certificate],
    [
      'a certificate that is none',
      ours.key,
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    ],
    ['certificate and key in each other’s place', ours.certificate, ours.key],
    ['an empty key', '', ours.certificate],
  ])('is refused with %s', (_, key, certificate) => {
    expect(() => checkKeyPair(key, certificate)).toThrow('err.keyPairInvalid')
  })
})
