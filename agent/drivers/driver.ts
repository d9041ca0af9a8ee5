import type { TargetDescription } from '#machines/protocol.ts'

/** One address to let in. */
export type Opening = {
  address: string
  /** Whole seconds after which the enforcement point ends it by itself, where it can: 1 to 2,147,483. */
  timeoutSeconds: number
  userName: string
}

/** One address to shut out. `userName` is that of the last holder. */
export type Closing = { address: string; userName: string }

/** Words for what went wrong on the enforcement point; the administrator reads the text beside them. */
export type DriverErrorCode =
  | 'setMissing'
  | 'setFull'
  | 'setUnfit'
  | 'noTimeouts'
  | 'permission'
  | 'programMissing'
  | 'badAddress'
  | 'badTarget'
  | 'needsCredentials'
  | 'notVerified'
  | 'scriptsOff'
  | 'scriptNotAllowed'
  | 'scriptFailed'
  | 'timeout'
  | 'unreachable'
  | 'notAllowed'
  | 'untrusted'
  | 'keyRefused'
  | 'listMissing'
  | 'unknownDevice'
  | 'unknownVsys'
  | 'deviceBusy'
  | 'deviceRefused'
  | 'badAnswer'
  | 'answerTooLong'
  | 'unknownTarget'
  | 'onlyFetched'
  | 'unknown'

export type DriverError = { code: DriverErrorCode; text: string }

/** How one entry ended: seen on the enforcement point, reported by something that can't be looked into, or failed. */
export type Outcome = { address: string } & (
  | { outcome: 'verified' | 'reported'; error: null }
  | { outcome: 'failed'; error: DriverError }
)

/** What stands on a list: canonical address → seconds left, 0 for an entry without an end. */
export type Listing = ReadonlyMap<string, number>

/** The list is not there or can't hold entries; or null where all is well. */
export type Health = DriverError | null

/**
 * One list on one enforcement point. Every act is idempotent: open twice is once (with the later call's end),
 * close of nothing succeeds. Opens and closes never overlap (the lane sees to that); each call has its own time
 * limit, and none throws.
 */
export type Driver = {
  /** How many entries one call takes at most; closes that wait come before the next call. */
  batchSize: number
  open: (entries: readonly Opening[]) => Promise<Outcome[]>
  close: (entries: readonly Closing[]) => Promise<Outcome[]>
  /** What stands there now; `unlistable` where nobody can tell. */
  list: () => Promise<Listing | DriverError | 'unlistable'>
  /** Makes the list if it is the agent's to make, and says whether it can hold entries. */
  ensure: () => Promise<Health>
  /** Takes away whatever the agent may have put there, known or not; entries without an end are not the agent's. */
  empty: () => Promise<Health>
  /**
   * Ends the established connections of addresses that were closed, where this kind of point can. `isShut` says no of
   * who is let in again while it works, to be asked as late as possible.
   */
  cut?: (entries: readonly Closing[], isShut?: (address: string) => boolean) => Promise<DriverError | null>
  /**
   * Tells the device to fetch the list from the server now; null when it took the order. Only for lists that are
   * fetched (Passive+): the server names no entries for them.
   */
  refresh?: () => Promise<DriverError | null>
  /** False where entries stand without an end, so that what is listed says nothing about it. */
  keepsEnds?: false
  /** Hears at once of an enforcement point that has lost its entries: the list is then looked at. The last one counts. */
  onReplaced?: (listener: () => void) => void
}

/** One factory per kind of enforcement point; the driver is for one list, as its target describes it. */
export type DriverFactories<Id extends string> = Readonly<Record<Id, (target: TargetDescription) => Driver>>

/** The same failure for each entry. */
export const failAll = (entries: readonly { address: string }[], error: DriverError): Outcome[] =>
  entries.map(({ address }) => ({ address, outcome: 'failed', error }))

/** Whether an answer is an error. */
export const isDriverError = (answer: Listing | DriverError | 'unlistable'): answer is DriverError =>
  typeof answer === 'object' && 'code' in answer
