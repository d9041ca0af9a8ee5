/**
 * The database's clock as this replica knows it: every end is an instant of that clock, and a replica's own may be
 * off. Fed by each look at the database; between two looks it runs on the monotonic clock, so a step of the host's
 * wall clock moves nothing.
 */
export function createDatabaseClock() {
  let known = { atMs: Date.now(), seen: performance.now() }

  return {
    now: () => Math.round(known.atMs + (performance.now() - known.seen)),
    /** The database said `atMs` in an answer that took `roundTripMs`. */
    saw(atMs: number, roundTripMs: number) {
      known = { atMs: atMs + roundTripMs / 2, seen: performance.now() }
    },
  }
}
