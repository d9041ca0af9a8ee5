/** Two answers at least so far apart have to name the same other bundle. Decision 35. */
export const confirmAfterMs = 60_000

/** The hash this page was built with; null when it wasn't built. */
export const loadedHash = (): string | null =>
  document.querySelector('meta[name="bundle-hash"]')?.getAttribute('content') ?? null

/** What was seen of another bundle so far. */
export type BundleSighting = { hash: string; since: number } | null

/** What an answer of system_status means for this tab. */
export type BundleVerdict = { sighting: BundleSighting; action: 'stay' | 'reload' | 'offer' }

/**
 * Whether to load the new bundle.
 *
 * During a rolling upgrade two versions answer in turn: only a hash seen twice, 60 s apart, counts; a tab reloads at
 * most once per hash, and over a form with changes it only offers to.
 */
export function judgeBundle({
  loaded,
  named,
  sighting,
  now,
  reloadedFor,
  isDirty,
}: {
  /** Hash this tab was built with; null in development. */
  loaded: string | null
  /** JsBundleHash of the answer. */
  named: string
  sighting: BundleSighting
  now: number
  /** The hashes this tab has reloaded for already: two that answer in turn, however slowly, never loop. */
  reloadedFor: readonly string[]
  isDirty: boolean
}): BundleVerdict {
  if (loaded === null || named === '' || named === loaded) return { sighting: null, action: 'stay' }
  const seen = sighting?.hash === named ? sighting : { hash: named, since: now }
  if (now - seen.since < confirmAfterMs) return { sighting: seen, action: 'stay' }
  return { sighting: seen, action: isDirty || reloadedFor.includes(named) ? 'offer' : 'reload' }
}
