import type { UserStatus } from '#server/status/status.schema.ts'

/** What stands in the way of access; texts are `home.<obstacle>` and `home.<obstacle>Text`. */
export type Obstacle = 'unlicensed' | 'stale' | 'userUnlicensed' | 'untrustedProxy'

type Facts = Pick<UserStatus, 'Licensed' | 'UserLicensed' | 'UntrustedProxy'>

/** One at a time, in this order. Portal §2 "Admin alert banners": the dashboard's error stands after unlicensed. */
const obstacles: readonly [Obstacle, holds: (status: Facts, failure: unknown) => boolean][] = [
  ['unlicensed', ({ Licensed }) => !Licensed],
  ['stale', (_, failure) => Boolean(failure)],
  ['userUnlicensed', ({ UserLicensed }) => !UserLicensed],
  ['untrustedProxy', ({ UntrustedProxy }) => UntrustedProxy !== null],
]

/** The first that holds; `failure` is why the last look at the status failed. */
export const findObstacle = (status: Facts, failure: unknown): Obstacle | undefined =>
  obstacles.find(([, holds]) => holds(status, failure))?.[0]
