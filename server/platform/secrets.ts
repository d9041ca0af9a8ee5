import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import type { Secret } from './secret.ts'

/** The place a sealed value belongs to; it opens nowhere else (decision 38). */
export interface SealedPlace {
  table: string
  column: string
  /** The row's id. */
  id: string
}

/** Encrypts, opens and signs with keys derived from the master key. */
export interface Sealer {
  /** Encrypts a value for one place: `key id.nonce.ciphertext`, to be stored as text. */
  seal: (plain: string, place: SealedPlace) => string
  /**
   * Gives a sealed value back.
   *
   * @throws Error when it was sealed under another master key, moved here from another place, or changed.
   */
  open: (sealed: string, place: SealedPlace) => string
  /** HMAC-SHA-256 in hex, under a key of this purpose only. */
  hmac: (purpose: string, data: string) => string
  /** What the database keeps to recognise the master key; says nothing about it. */
  checkValue: () => string
  /** Whether a stored check value was made with this master key. */
  isCheckValue: (stored: string) => boolean
}

const nonceBytes = 12
const tagBytes = 16

/**
 * A sealer under a master key of 32 bytes in base64: AES-256-GCM with a random nonce, bound to table, column
 * and row, so that a ciphertext copied into another row does not open.
 */
export function createSealer(masterKey: Secret): Sealer {
  const master = Buffer.from(masterKey.expose(), 'base64')
  if (master.length !== 32) throw new Error('The master key is not 32 bytes.')
  const keyId = derive(master, 'key id').toString('hex').slice(0, 8)
  const sealKey = derive(master, 'seal')
  const hmacKeys = new Map<string, Buffer>()

  function hmac(purpose: string, data: string): string {
    const key = hmacKeys.get(purpose) ?? derive(master, `hmac ${purpose}`)
    hmacKeys.set(purpose, key)
    return createHmac('sha256', key).update(data).digest('hex')
  }

  function checkValue(): string {
    return `${keyId}.${hmac('check value', 'knoc')}`
  }

  return {
    hmac,
    checkValue,
    isCheckValue: (stored) => isSame(stored, checkValue()),
    seal: (plain, place) => seal({ plain, place, keyId, key: sealKey }),
    open: (sealed, place) => open({ sealed, place, keyId, key: sealKey }),
  }
}

function seal({
  plain,
  place,
  keyId,
  key,
}: {
  plain: string
  place: SealedPlace
  keyId: string
  key: Buffer
}): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(toAad(place, keyId))
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${keyId}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
}

function open({
  sealed,
  place,
  keyId,
  key,
}: {
  sealed: string
  place: SealedPlace
  keyId: string
  key: Buffer
}): string {
  const where = `${place.table}.${place.column} of ${place.id}`
  const [sealedUnder, nonceText, text] = sealed.split('.')
  if (sealedUnder !== keyId) throw new Error(`${where} was sealed under another master key.`)
  const nonce = Buffer.from(nonceText ?? '', 'base64url')
  const bytes = Buffer.from(text ?? '', 'base64url')
  if (nonce.length !== nonceBytes || bytes.length < tagBytes)
    throw new Error(`${where} is not a sealed value.`)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      .setAAD(toAad(place, keyId))
      .setAuthTag(bytes.subarray(-tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw new Error(`${where} was not sealed for this place, or was changed.`, { cause })
  }
}

function toAad({ table, column, id }: SealedPlace, keyId: string): Buffer {
  return Buffer.from(JSON.stringify([keyId, table, column, id]))
}

function derive(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'knoc', purpose, 32))
}

function isSame(left: string, right: string): boolean {
  const [one, two] = [Buffer.from(left), Buffer.from(right)]
  return one.length === two.length && timingSafeEqual(one, two)
}
