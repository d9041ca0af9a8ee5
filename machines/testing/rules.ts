import { desiredEntry, grantEnd, planEntry } from '../access.ts'
import { moveAddress, settleAddresses } from '../address-move.ts'
import { clockOffset, clockOffsetAtStart, withSample } from '../agent-clock.ts'
import { acceptOrder, bucketVerdict, closesAt, kernelTimeoutSeconds, shouldStand } from '../journal.ts'
import { counts, mayGrant, opensFor, shortenedEnd, touchedLists } from '../liveness.ts'

/** The product's own functions, in one record so that the mutants test can plant a faulty copy of any of them. */
export const realRules = {
  desiredEntry,
  planEntry,
  grantEnd,
  acceptOrder,
  bucketVerdict,
  closesAt,
  shouldStand,
  kernelTimeoutSeconds,
  moveAddress,
  settleAddresses,
  counts,
  opensFor,
  mayGrant,
  shortenedEnd,
  touchedLists,
  clockOffset,
  clockOffsetAtStart,
  withSample,
  /** An address change carries the grant's end over as it is. */
  endAfterMove: (grant: { endsAt: number }, _now: number): number => grant.endsAt,
}
export type Rules = typeof realRules
