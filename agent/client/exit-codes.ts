/** What `knoc-client` ends with; scripts go by it. */
export const exitCodes = {
  /** Everything wanted is open, or everything was closed as asked. */
  done: 0,
  failed: 1,
  usage: 2,
  /** The server knows neither key nor user, doesn't let them in, or has no such entry for them. */
  refused: 3,
  notOpenInTime: 4,
  unreachable: 5,
  /** An entry may not be opened from this address. */
  restricted: 6,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
