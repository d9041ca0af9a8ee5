/** Where the time comes from; passed in, so that a test can decide it. Ends of access use the database's clock. */
export interface Clock {
  now: () => Date
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date() }
