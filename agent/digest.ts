import { createHash } from 'node:crypto'
import type { JournalEntry } from '#machines/journal.ts'
import { digestText, linkLimits } from '#machines/protocol.ts'

/** The bucket an address belongs to: the first byte of its md5. */
export const bucketOf = (address: string): number => md5(address).readUInt8(0)

/** A target's digest, kept up to date with each change, so that answering a request costs nothing. */
export type Digest = {
  /** Takes the entry in, or out again: the same call twice changes nothing. Closed entries don't count. */
  toggle: (entry: Pick<JournalEntry, 'address' | 'generation' | 'desired'>) => void
  /** 256 values in hex, as the wire has them (`digestText` in machines/protocol.ts). */
  values: () => string[]
}

/** An empty target's digest. */
export function createDigest(): Digest {
  const buckets = new BigUint64Array(linkLimits.digestBuckets)
  return {
    toggle: ({ address, generation, desired }) => {
      if (desired === 'closed') return
      const bucket = bucketOf(address)
      buckets[bucket] = (buckets[bucket] ?? 0n) ^ md5(digestText(address, generation)).readBigUInt64BE(0)
    },
    values: () => Array.from(buckets, (value) => value.toString(16).padStart(16, '0')),
  }
}

/** md5 because PostgreSQL has it without an extension; it finds differences, it guards nothing. */
const md5 = (text: string): Buffer => createHash('md5').update(text).digest()
