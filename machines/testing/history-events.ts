/** One thing that happens in a history. */
export type HistoryEvent =
  | { type: 'wait'; ms: number }
  | { type: 'signIn'; session: number; seconds: number; address: number }
  | { type: 'endSession'; session: number }
  | { type: 'setEnabled'; session: number; enabled: boolean }
  | { type: 'grant'; session: number; knoc: number }
  | { type: 'revoke'; session: number; knoc: number }
  | { type: 'restrict'; knoc: number; address: number; restricted: boolean }
  | { type: 'see'; session: number; address: number }
  /** A lookup port saw the session at a carrier's address. */
  | { type: 'discover'; session: number; carrier: number }
  /** The knoc is given to the session's user or taken away, by himself or by a group. */
  | { type: 'entitle'; session: number; knoc: number; entitled: boolean }
  /** More or fewer users fit the licence. */
  | { type: 'license'; session: number; licensed: boolean }
  | { type: 'licence'; standing: 'inForce' | 'ended' | 'removed' }
  /** Duration or ValidUntil: the session ends so long after its beginning, if that is sooner. */
  | { type: 'shorten'; session: number; seconds: number }
  | { type: 'setMaximum'; knoc: number; seconds: number | null }
  /** Another set, another backend, another agent. */
  | { type: 'retarget'; knoc: number; target: number }
  | { type: 'setFixed'; knoc: number; addresses: number[] | null }
  | { type: 'setCgnat'; knoc: number; open: boolean }
  /** And made anew, with nothing of the old one but its settings. */
  | { type: 'deleteKnoc'; knoc: number }
  | { type: 'link'; up: boolean }
  /** The replica that holds the link lost the database: traffic, but neither truth nor orders. */
  | { type: 'hang'; hung: boolean }
  | { type: 'lossy'; lossy: boolean }
  | { type: 'stopAgent' }
  | { type: 'startAgent'; reboot: boolean; journalLost: boolean; wallErrorMs: number }
  | { type: 'jumpWall'; byMs: number }
  | { type: 'resync' }

/** Everything gets well again and comes to rest; then the server goes away for good, and nothing outlives its end. */
export const epilogue: readonly HistoryEvent[] = [
  { type: 'startAgent', reboot: false, journalLost: false, wallErrorMs: 0 },
  { type: 'lossy', lossy: false },
  { type: 'hang', hung: false },
  { type: 'link', up: true },
  { type: 'wait', ms: 40_000 },
  { type: 'link', up: false },
  { type: 'wait', ms: 60_000 },
  { type: 'stopAgent' },
  { type: 'wait', ms: 40 * 86_400_000 },
  { type: 'startAgent', reboot: false, journalLost: false, wallErrorMs: 0 },
  { type: 'wait', ms: 1_000 },
]
