import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
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
  return isPlainHttp(value) && !isLoopbackHost(new URL(value).hostname.replace(/^\[|\]$/g, ''))
}

/** Whether a URL is plain http. */
export function isPlainHttp(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'http:'
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

/** The ports that a browser is looked at on, as the specification names them. Portal §7. */
export const lookupPortNumbers = [443, 222, 3389, 8000] as const

/** A lookup port that is on: `port` is the one of the specification, `at` the one that listens. */
export type LookupPortChoice = { port: number; at: number }

/**
 * Reads which lookup ports are on and where each listens: `443=8443,222=off,3389` moves the first, switches the
 * second off, leaves the third where it is, and the one that isn't named is off. Every fault is told.
 */
export function readLookupPorts(text: string): { ports: LookupPortChoice[]; faults: string[] } {
  const faults: string[] = []
  const named = new Set<number>()
  const ports: LookupPortChoice[] = []
  for (const part of text.split(',').map((item) => item.trim())) {
    const [, name = '', to = name] = /^(\d{1,5})(?:=(off|\d{1,5}))?$/.exec(part) ?? []
    const [port, at] = [Number(name), Number(to)]
    if (name === '') faults.push('holds something that is no port')
    else if (!lookupPortNumbers.some((known) => known === port)) faults.push(`knows no lookup port ${port}`)
    else if (named.has(port)) faults.push(`names port ${port} twice`)
    else if (to !== 'off' && (at < 1 || at > 65_535)) faults.push(`moves port ${port} to where no port is`)
    else if (to !== 'off') ports.push({ port, at })
    named.add(port)
  }
  for (const [index, { at }] of ports.entries())
    if (ports.findIndex((other) => other.at === at) < index) faults.push(`uses ${at} twice`)
  return { ports, faults }
}

/** Whether a text is a host name as a browser asks for it: lower case, without a port. */
export function isHostName(value: string): boolean {
  return value.length <= 253 && /^(?!-)[a-z\d-]{1,63}(?<!-)(\.(?!-)[a-z\d-]{1,63}(?<!-))*$/.test(value)
}

/** What is wrong with a file that should hold a certificate or a private key in PEM; undefined when nothing is. */
export function findPemFault(path: string, kind: 'certificate' | 'key'): string | undefined {
  const read = readVariableFile(path)
  if ('fault' in read) return read.fault
  const isUsable = kind === 'certificate' ? findCertificate(read.value) : findPrivateKey(read.value)
  return isUsable === undefined ? `names a file that holds no ${kind} in PEM` : undefined
}

/** Whether a private key belongs to a certificate, both in PEM; of a chain the first certificate counts. */
export function isKeyPair(certificate: string, key: string): boolean {
  const [found, privateKey] = [findCertificate(certificate), findPrivateKey(key)]
  return found !== undefined && privateKey !== undefined && found.checkPrivateKey(privateKey)
}

/** The same of two files; one that cannot be read has its own fault, and counts as belonging. */
export function isKeyPairInFiles(certificateFile: string, keyFile: string): boolean {
  const [certificate, key] = [readVariableFile(certificateFile), readVariableFile(keyFile)]
  if ('fault' in certificate || 'fault' in key) return true
  if (findCertificate(certificate.value) === undefined || findPrivateKey(key.value) === undefined) return true
  return isKeyPair(certificate.value, key.value)
}

function findCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function findPrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}
