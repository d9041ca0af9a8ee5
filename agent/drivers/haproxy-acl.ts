import ipaddr from 'ipaddr.js'
import { parseAddress } from '../address.ts'
import type { DriverError } from './driver.ts'
import { HaproxyFault, type Question } from './haproxy-connection.ts'

/** One entry of an ACL: HAProxy's reference to it, and its text in the form that everything here compares. */
export type AclEntry = { reference: string; name: string }

/** Questions about one ACL. Nothing but addresses in canonical form and HAProxy's own references goes into them. */
export const aclQuestions = (id: number) => ({
  list: (): Question => ({ text: `show acl #${id}` }),
  match: (address: string): Question => ({ text: `get acl #${id} ${address}` }),
  add: (address: string): Question => ({ text: `add acl #${id} ${address}` }),
  remove: (address: string): Question => ({ text: `del acl #${id} ${address}` }),
  removeReference: (reference: string): Question => ({ text: `del acl #${id} #${reference}` }),
})

/** What an ACL says to one address. */
export type Match =
  | { is: 'match'; name: string }
  | { is: 'none' }
  /** An ACL of another type than addresses. */
  | { is: 'unfit' }
  | { is: 'error'; error: DriverError }

/** Reads `type=ip, …, match=yes, idx=tree, pattern="10.0.0.1"`. */
export function readMatch(lines: readonly string[]): Match {
  const line = lines[0] ?? ''
  const [, type] = /^type=(\w+),/.exec(line) ?? []
  if (type === undefined) return { is: 'error', error: toHaproxyError(lines) }
  if (type !== 'ip') return { is: 'unfit' }
  if (!line.includes(', match=yes')) return { is: 'none' }
  return { is: 'match', name: toName(/pattern="([^"]*)"/.exec(line)?.[1] ?? '') }
}

/** Reads `0x55… 10.0.0.1` lines; an error where HAProxy said something else. */
export function readEntries(lines: readonly string[]): AclEntry[] | DriverError {
  const entries: AclEntry[] = []
  for (const line of lines) {
    const [, reference, pattern] = /^(0x[0-9a-f]{1,16}) (\S+)$/.exec(line) ?? []
    if (reference === undefined || pattern === undefined) return toHaproxyError(lines)
    entries.push({ reference, name: toName(pattern) })
  }
  return entries
}

/** What HAProxy's words mean; no words are success. */
export function toHaproxyError(lines: readonly string[]): DriverError {
  const text = lines.join(' ').slice(0, 500)
  const known = errorWords.find(([words]) => words.test(text))
  return known?.[1] ?? { code: 'unknown', text: text === '' ? 'HAProxy said nothing' : text }
}

/** Why HAProxy could not be asked, in words for the administrator. */
export const faultError = (fault: unknown): DriverError => {
  if (!(fault instanceof HaproxyFault)) throw fault
  if (fault.reason === 'forbidden') {
    return {
      code: 'permission',
      text: `${fault.message}: its owner and mode must let the agent’s user in, and agent.json must name it`,
    }
  }
  return { code: fault.reason === 'timeout' ? 'timeout' : 'unknown', text: fault.message }
}

const errorWords: readonly (readonly [RegExp, DriverError])[] = [
  [
    /Unknown ACL identifier/i,
    {
      code: 'setMissing',
      text: 'HAProxy has no ACL of this number; give it one in its configuration (`acl knoc src -u NUMBER`) or enter the one that `show acl` lists',
    },
  ],
  [
    /Permission denied/i,
    { code: 'permission', text: 'HAProxy refuses this: its `stats socket` needs `level admin`' },
  ],
]

/**
 * The one text for patterns that mean the same: HAProxy keeps `10.0.0.1/32`, host bits and capitals as they were
 * typed. Patterns that no order can mean keep their own text.
 */
function toName(pattern: string): string {
  const plain = parseAddress(pattern)?.text
  if (plain !== undefined || !pattern.includes('/') || !ipaddr.isValidCIDR(pattern)) return plain ?? pattern
  const [address, bits] = ipaddr.parseCIDR(pattern)
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(pattern)
      : ipaddr.IPv6.networkAddressFromCIDR(pattern)
  return parseAddress(`${network.toString()}/${bits}`)?.text ?? pattern
}
