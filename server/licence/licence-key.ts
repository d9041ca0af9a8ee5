import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { type LicencePayload, licencePayloadSchema } from './licence.schema.ts'

/** Makes a licence key: what it says, and an Ed25519 signature over that. `privateKey` is PKCS#8 in PEM. */
export function signLicence(payload: LicencePayload, privateKey: string): string {
  const said = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${said}.${sign(null, Buffer.from(said), createPrivateKey(privateKey)).toString('base64url')}`
}

/** What a licence key says, if it was signed with the private half of `publicKey` (SPKI in PEM); else undefined. */
export function readLicence(key: string, publicKey: string): LicencePayload | undefined {
  const [said = '', signature = '', ...rest] = key.trim().split('.')
  if (rest.length > 0 || !isBase64Url(said) || !isBase64Url(signature)) return undefined
  const isSigned = verify(
    null,
    Buffer.from(said),
    createPublicKey(publicKey),
    Buffer.from(signature, 'base64url'),
  )
  return isSigned ? parsePayload(Buffer.from(said, 'base64url').toString('utf8')) : undefined
}

const isBase64Url = (text: string): boolean => /^[\w-]+$/.test(text)

function parsePayload(json: string): LicencePayload | undefined {
  try {
    return licencePayloadSchema.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}
