import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { noteTruthGap, readSecondsWithoutReplica } from './truth-gap.store.ts'

/** Shorter gaps are the look's own second and a busy host, in milliseconds. */
const worthNotingMs = 3_000

/** Sees how long this replica is without the database: what agents call the server's silence (decision 10). */
export type TruthWatch = {
  /** Before the first look: how long nobody was there. */
  begin: () => Promise<void>
  /** The database has just answered. */
  saw: () => Promise<void>
}

/** Builds the watch. `now` is monotonic, in milliseconds. */
export function createTruthWatch(
  { db, replica }: { db: Kysely<DB>; replica: string },
  now: () => number = () => performance.now(),
): TruthWatch {
  let sawAt = now()

  return {
    begin: async () => {
      const seconds = await readSecondsWithoutReplica(db)
      sawAt = now()
      if (seconds !== null && seconds * 1_000 >= worthNotingMs) await noteTruthGap(db, { replica, seconds })
    },
    saw: async () => {
      const gapMs = now() - sawAt
      sawAt = now()
      if (gapMs >= worthNotingMs) await noteTruthGap(db, { replica, seconds: gapMs / 1_000 })
    },
  }
}
