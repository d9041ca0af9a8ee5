/** What an entry is: one address on one target. */
export type EntryKey = { targetId: string; address: string }

/** The keys once each, in the order in which entries are locked everywhere (decision 1). */
export function toLockOrder(keys: readonly EntryKey[]): EntryKey[] {
  const once = new Map(keys.map((key) => [`${key.targetId}|${key.address}`, key]))
  return [...once.entries()].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, key]) => key)
}

/** Keys as two arrays, for `unnest` in one statement. */
export const toColumns = (keys: readonly EntryKey[]): { targetIds: string[]; addresses: string[] } => ({
  targetIds: keys.map((key) => key.targetId),
  addresses: keys.map((key) => key.address),
})
