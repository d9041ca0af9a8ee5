import 'reflect-metadata'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { X509CertificateGenerator } from '@peculiar/x509'
import { apiError } from '../../errors.ts'

/** A private key (PKCS #8) and its certificate, both as PEM. */
export type KeyPair = { key: string; certificate: string }

/** Identity providers know our key by its certificate and ask for nothing else in it; renewing it is work on both sides. */
const years = 10

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 3072,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
}

/** The smallest RSA modulus that is still allowed, in bits (NIST SP 800-131A). */
const leastModulusBits = 2048

/** Makes a key pair to sign requests and to decrypt assertions: RSA with 3072 bits, self-signed for ten years. */
export async function createKeyPair(commonName: string): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const notBefore = new Date()
  const notAfter = new Date(notBefore)
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + years)
  const certificate = await X509CertificateGenerator.createSelfSigned(
    { name: [{ CN: [commonName] }], notBefore, notAfter, keys, signingAlgorithm: algorithm },
    crypto,
  )
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  return { key: toPem('PRIVATE KEY', der), certificate: `${certificate.toString('pem')}\n` }
}

/**
 * Checks a key pair that somebody uploads: an unencrypted RSA key of at least 2048 bits, and the certificate of it.
 *
 * @throws err.keyPairInvalid
 */
export function checkKeyPair(keyPem: string, certificatePem: string): void {
  const fault = findFault(keyPem, certificatePem)
  if (fault !== undefined) throw apiError('err.keyPairInvalid', { detail: fault })
}

/** Whether a certificate holds an RSA key that is long enough to be believed. */
export function hasStrongRsaKey({ publicKey }: X509Certificate): boolean {
  return (
    publicKey.asymmetricKeyType === 'rsa' &&
    (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) >= leastModulusBits
  )
}

/** DER as PEM. */
export function toPem(label: 'PRIVATE KEY' | 'CERTIFICATE', der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

function findFault(keyPem: string, certificatePem: string): string | undefined {
  const key = attempt(() => createPrivateKey(keyPem))
  if (key === undefined) return 'the key is no unencrypted private key in PEM'
  const certificate = attempt(() => new X509Certificate(certificatePem))
  if (certificate === undefined) return 'the certificate is none in PEM'
  if (!hasStrongRsaKey(certificate)) return `not an RSA key of at least ${leastModulusBits} bits`
  return attempt(() => certificate.checkPrivateKey(key)) === true
    ? undefined
    : 'the certificate belongs to another key'
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
