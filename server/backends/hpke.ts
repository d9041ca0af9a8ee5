import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'

/**
 * HPKE, RFC 9180, base mode, one message: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, and AES-GCM.
 *
 * Written out here because Node and Deno have the primitives but not the scheme; the RFC's own vectors are
 * its test. Names in the comments are the RFC's.
 */

/** AEADs of RFC 9180 §7.3; the product seals with AES-256-GCM, the RFC prints vectors for AES-128-GCM. */
const aeads = {
  'aes-128-gcm': { id: 0x0001, keyBytes: 16 },
  'aes-256-gcm': { id: 0x0002, keyBytes: 32 },
} as const
type Aead = keyof typeof aeads

const kemId = 0x0020
const kdfId = 0x0001
const nonceBytes = 12
const tagBytes = 16
/** Length of a raw X25519 public key, which `enc` is. */
const keyBytes = 32
const spkiPrefix = Buffer.from('302a300506032b656e032100', 'hex')

/** What sealing and opening must agree on beside the keys. */
export type HpkeContext = { info: Buffer; aad: Buffer; aead?: Aead }

/** SealBase: the encapsulated key followed by the ciphertext with its tag. `ephemeral` is given by tests only. */
export function hpkeSeal(
  plain: Buffer,
  { recipient, ephemeral, ...context }: HpkeContext & { recipient: KeyObject; ephemeral?: KeyObject },
): Buffer {
  const privateKey = ephemeral ?? generateKeyPairSync('x25519').privateKey
  const enc = toRaw(createPublicKey(privateKey))
  const shared = kemSecret({ privateKey, publicKey: recipient, enc, recipient: toRaw(recipient) })
  const { key, nonce, aead } = keySchedule(shared, context)
  const cipher = createCipheriv(aead, key, nonce).setAAD(context.aad)
  return Buffer.concat([enc, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** OpenBase; throws when the key, the context or a single bit is another. */
export function hpkeOpen(
  sealed: Buffer,
  { recipient, ...context }: HpkeContext & { recipient: KeyObject },
): Buffer {
  if (sealed.length < keyBytes + tagBytes) throw new Error('This is not a sealed value.')
  const enc = sealed.subarray(0, keyBytes)
  const publicKey = fromRaw(enc)
  const shared = kemSecret({
    privateKey: recipient,
    publicKey,
    enc,
    recipient: toRaw(createPublicKey(recipient)),
  })
  const { key, nonce, aead } = keySchedule(shared, context)
  const decipher = createDecipheriv(aead, key, nonce, { authTagLength: tagBytes })
    .setAAD(context.aad)
    .setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(keyBytes, -tagBytes)), decipher.final()])
}

/** Encap and Decap meet here: ExtractAndExpand over the Diffie-Hellman value. OpenSSL refuses an all-zero one. */
function kemSecret(parts: {
  privateKey: KeyObject
  publicKey: KeyObject
  enc: Buffer
  recipient: Buffer
}): Buffer {
  const suite = Buffer.concat([Buffer.from('KEM'), twoBytes(kemId)])
  const dh = diffieHellman({ privateKey: parts.privateKey, publicKey: parts.publicKey })
  const prk = labeledExtract({ suite, salt: Buffer.alloc(0), label: 'eae_prk', ikm: dh })
  const info = Buffer.concat([parts.enc, parts.recipient])
  return labeledExpand({ suite, prk, label: 'shared_secret', info, length: 32 })
}

/** KeySchedule<ROLE> in mode_base: no pre-shared key, sequence number 0, so the base nonce is the nonce. */
function keySchedule(
  shared: Buffer,
  { info, aead = 'aes-256-gcm' }: HpkeContext,
): { key: Buffer; nonce: Buffer; aead: Aead } {
  const { id, keyBytes: length } = aeads[aead]
  const suite = Buffer.concat([Buffer.from('HPKE'), twoBytes(kemId), twoBytes(kdfId), twoBytes(id)])
  const none = Buffer.alloc(0)
  const context = Buffer.concat([
    Buffer.from([0]),
    labeledExtract({ suite, salt: none, label: 'psk_id_hash', ikm: none }),
    labeledExtract({ suite, salt: none, label: 'info_hash', ikm: info }),
  ])
  const prk = labeledExtract({ suite, salt: shared, label: 'secret', ikm: none })
  return {
    aead,
    key: labeledExpand({ suite, prk, label: 'key', info: context, length }),
    nonce: labeledExpand({ suite, prk, label: 'base_nonce', info: context, length: nonceBytes }),
  }
}

function labeledExtract(parts: { suite: Buffer; salt: Buffer; label: string; ikm: Buffer }): Buffer {
  const salt = parts.salt.length === 0 ? Buffer.alloc(32) : parts.salt
  const labeled = Buffer.concat([Buffer.from('HPKE-v1'), parts.suite, Buffer.from(parts.label), parts.ikm])
  return createHmac('sha256', salt).update(labeled).digest()
}

/** HKDF-Expand; every length here fits into the first block of 32 bytes. */
function labeledExpand(parts: {
  suite: Buffer
  prk: Buffer
  label: string
  info: Buffer
  length: number
}): Buffer {
  const info = Buffer.concat([
    twoBytes(parts.length),
    Buffer.from('HPKE-v1'),
    parts.suite,
    Buffer.from(parts.label),
    parts.info,
  ])
  const block = createHmac('sha256', parts.prk)
    .update(Buffer.concat([info, Buffer.from([1])]))
    .digest()
  return block.subarray(0, parts.length)
}

const twoBytes = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])

const toRaw = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(-keyBytes)

const fromRaw = (raw: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' })
