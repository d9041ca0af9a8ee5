/**
 * Orders two versions by their numbers: negative when `left` is the older one. A pre-release (`2.0.0-rc.1`) is
 * older than its release; what is no version is older than every version. https://semver.org, without the order
 * among pre-releases.
 */
export function compareVersions(left: string, right: string): number {
  const [one, two] = [parseVersion(left), parseVersion(right)]
  for (const part of [0, 1, 2] as const) {
    const difference = one.numbers[part] - two.numbers[part]
    if (difference !== 0) return difference
  }
  return Number(two.isPreRelease) - Number(one.isPreRelease)
}

type Version = { numbers: readonly [number, number, number]; isPreRelease: boolean }

function parseVersion(text: string): Version {
  const match = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-)?/.exec(text)
  if (match === null) return { numbers: [-1, -1, -1], isPreRelease: false }
  return {
    numbers: [Number(match[1]), Number(match[2] ?? 0), Number(match[3] ?? 0)],
    isPreRelease: match[4] !== undefined,
  }
}
