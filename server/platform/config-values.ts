import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Secret } from './secret.ts'

/** Reads the file that a `…_FILE` variable names; the newline that editors add is not part of the value. */
export function readVariableFile(path: string): { value: string } | { fault: string } {
  try {
    return { value: readFileSync(path, 'utf8').trim() }
  } catch (error) {
    return { fault: `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})` }
  }
}

/** Whether a secret was given; a faulty one counts, its own fault is listed already. */
export function isSecret(value: unknown): boolean {
  return value instanceof Secret || typeof value === 'string'
}

/** Whether a URL has nothing behind its host and port. */
export function isOrigin(value: string): boolean {
  const { pathname, search, hash, username, password } = new URL(value)
  return pathname === '/' && `${search}${hash}${username}${password}` === ''
}

/** Whether a URL is plain http on another host than this one. */
export function isRemoteHttp(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  return protocol === 'http:' && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}

/** Whether a host, name or address, is this machine alone. */
export function isLoopbackHost(host: unknown): boolean {
  if (typeof host !== 'string') return false
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  return isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback'
}

/** Whether a text is 32 bytes in base64. */
export function isKeyOf32Bytes(value: string): boolean {
  return /^[A-Za-z0-9+/]{43}=?$/.test(value) && Buffer.from(value, 'base64').length === 32
}

/** Whether a text is an address or a range of them, in strict spelling. */
export function isAddressOrCidr(value: string): boolean {
  const [address = '', bits] = value.split('/')
  return isIP(address) !== 0 && (bits === undefined || ipaddr.isValidCIDR(value))
}

/** An Ed25519 public key as PEM, from PEM (also on one line) or the base64 of its DER. */
export function findEd25519Pem(value: string): string | undefined {
  try {
    const key = value.includes('-----BEGIN')
      ? createPublicKey(value.replaceAll('\\n', '\n'))
      : createPublicKey({ key: Buffer.from(value, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyType === 'ed25519' ? key.export({ format: 'pem', type: 'spki' }) : undefined
  } catch {
    return undefined
  }
}
