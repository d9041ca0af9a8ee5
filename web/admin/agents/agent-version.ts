import { compareVersions } from '#machines/version.ts'

/** How an agent's version stands against what the server asks for and can hand out. Console §4. */
export type VersionStanding = 'incompatible' | 'outOfDate' | 'upToDate' | 'unknown'

/** What the server says of agent versions. */
export type VersionPolicy = { minimum: string; available: readonly string[] }

/** Newest version that the server can hand out; undefined when it names none. */
export const latestVersion = ({ available }: VersionPolicy): string | undefined =>
  available.toSorted(compareVersions).at(-1)

/** Standing of one agent. One that never connected has no version and is neither good nor bad. */
export function versionStanding(version: string | null, policy: VersionPolicy): VersionStanding {
  if (version === null || version === '') return 'unknown'
  if (compareVersions(version, policy.minimum) < 0) return 'incompatible'
  const latest = latestVersion(policy)
  return latest !== undefined && compareVersions(version, latest) < 0 ? 'outOfDate' : 'upToDate'
}

/** The newest version is announced only once some agent runs it or a newer one. Console §4. */
export function announcedVersion(
  agents: readonly { Version: string | null }[],
  policy: VersionPolicy,
): string | undefined {
  const latest = latestVersion(policy)
  if (latest === undefined) return undefined
  const runs = agents.some(({ Version }) => Version !== null && compareVersions(Version, latest) >= 0)
  return runs ? latest : undefined
}
