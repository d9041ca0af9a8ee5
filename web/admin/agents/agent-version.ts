/**
 * Order of two versions: below 0 when `a` is older. A pre-release (`2.0.0-rc.1`) is older than its release, as the
 * server has it.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  for (let index = 0; index < Math.max(left.numbers.length, right.numbers.length); index += 1) {
    const difference = (left.numbers[index] ?? 0) - (right.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  return Number(right.isPreRelease) - Number(left.isPreRelease)
}

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

/** What isn't a number counts as 0; what follows a plus doesn't count. */
function parse(version: string): { numbers: number[]; isPreRelease: boolean } {
  const [release = '', mark] = (version.replace(/^v/, '').split('+')[0] ?? '').split(/-(.*)/s)
  return {
    numbers: release.split('.').map((part) => Number.parseInt(part, 10) || 0),
    isPreRelease: mark !== undefined && mark !== '',
  }
}
