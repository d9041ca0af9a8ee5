import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'

/** What a test lets an answer say in place of what is right. */
export type Lies = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  /** Nobody proved to the authenticator that he is its owner. */
  unverified?: boolean
  /** Nobody touched it either. */
  absent?: boolean
  counter?: number
  userHandle?: string | undefined
  /** The id that the answer names, whatever the signed bytes say. */
  id?: string
  /** Signed by another key. */
  forged?: boolean
  fmt?: string
  attStmt?: ReadonlyMap<string, unknown>
}

/** An authenticator in software with one ES256 credential (WebAuthn Level 3 §6), and the browser it is in. */
export type Authenticator = ReturnType<typeof createAuthenticator>

/** Makes one. `hasCounter: false` answers 0 always, as synced passkeys do. */
export function createAuthenticator({
  origin = 'https://knoc.example',
  hasCounter = true,
}: {
  origin?: string
  hasCounter?: boolean
} = {}) {
  const { publicKey, privateKey } = newKeyPair()
  const id = randomBytes(32)
  let counter = 0
  let userHandle: string | undefined

  function clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { crossOrigin = false } = lies
    return Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin,
      }),
    )
  }

  function authenticatorData(rpId: string, lies: Lies, credential?: Buffer): Buffer {
    if (hasCounter) counter = lies.counter ?? counter + 1
    const flags = (lies.absent ? 0 : 0x01) | (lies.unverified ? 0 : 0x04) | (credential ? 0x40 : 0)
    const fixed = Buffer.alloc(5)
    fixed.writeUInt8(flags)
    fixed.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(lies.rpId ?? rpId), fixed, credential ?? Buffer.alloc(0)])
  }

  return {
    id: id.toString('base64url'),
    /** What `navigator.credentials.create` answers. */
    create(options: PublicKeyCredentialCreationOptionsJSON, lies: Lies = {}): RegistrationResponseJSON {
      userHandle = options.user.id
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const credential = Buffer.concat([Buffer.alloc(16), length, id, cbor(toCose(publicKey))])
      const attestation = new Map<string, unknown>([
        ['fmt', lies.fmt ?? 'none'],
        ['attStmt', lies.attStmt ?? new Map()],
        ['authData', authenticatorData(options.rp.id ?? '', lies, credential)],
      ])
      const named = lies.id ?? id.toString('base64url')
      return {
        id: named,
        rawId: named,
        type: 'public-key',
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, lies).toString('base64url'),
          attestationObject: cbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      }
    },
    /** What `navigator.credentials.get` answers. */
    get(options: PublicKeyCredentialRequestOptionsJSON, lies: Lies = {}): AuthenticationResponseJSON {
      const client = clientData('webauthn.get', options.challenge, lies)
      const data = authenticatorData(options.rpId ?? '', lies)
      const key = lies.forged ? newKeyPair().privateKey : privateKey
      const named = lies.id ?? id.toString('base64url')
      const handle = 'userHandle' in lies ? lies.userHandle : userHandle
      return {
        id: named,
        rawId: named,
        type: 'public-key',
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', Buffer.concat([data, sha256(client)]), key).toString('base64url'),
          ...(handle !== undefined && { userHandle: handle }),
        },
        clientExtensionResults: {},
      }
    },
  }
}

const newKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** A COSE_Key of kty EC2, alg ES256, crv P-256 (RFC 9053 §7.1.1). */
function toCose(publicKey: KeyObject): ReadonlyMap<number, unknown> {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ])
}

/** As much CBOR (RFC 8949) as attestations need: integers, bytes, text, arrays and maps. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flat().map((one: unknown) => cbor(one))])
  throw new Error('no CBOR for this')
}

function head(major: number, length: number): Buffer {
  const first = major << 5
  if (length < 24) return Buffer.from([first | length])
  if (length < 256) return Buffer.from([first | 24, length])
  return Buffer.from([first | 25, length >> 8, length & 0xff])
}
