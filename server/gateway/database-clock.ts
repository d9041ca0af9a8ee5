/** Looks that count, in milliseconds: long enough to outlive a database that hangs, short against drift. */
const keptMs = 60_000

/**
 * The database's clock as this replica knows it: every end is an instant of that clock, and a replica's own may be
 * off. Fed by each look at the database; between two looks it runs on the monotonic clock, so a step of the host's
 * wall clock moves nothing.
 *
 * An answer can only be late, by as long as a database or a network hangs: of the looks of the last minute the one
 * that came fastest counts. So it is never ahead, which would let agents close before the end.
 */
export function createDatabaseClock(
  read: { wall: () => number; monotonic: () => number } = {
    wall: () => Date.now(),
    monotonic: () => performance.now(),
  },
) {
  const guess = read.wall() - read.monotonic()
  let looks: { offset: number; at: number }[] = []

  return {
    now: () => Math.round(read.monotonic() + (looks[0]?.offset ?? guess)),
    /** The database said `atMs`, in an answer that is here just now. */
    saw(atMs: number) {
      const at = read.monotonic()
      const offset = atMs - at
      // Best first; what is older and worse than this one will never count again.
      looks = [...looks.filter((look) => look.offset > offset && at - look.at < keptMs), { offset, at }]
    },
  }
}
