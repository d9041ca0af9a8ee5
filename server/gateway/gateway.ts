import type { OrderRef } from '../entries/settle-entries.ts'

/** Delivery's face to the rest of the server. Design §2. */
export type Gateway = {
  /** These orders are committed and wait in the table: hand them over now, wherever their agent's link is held. */
  nudge(orders: readonly OrderRef[]): void
  /** Ends an agent's link at once, on whichever replica holds it (deleted agent, new token). */
  drop(agentId: string): Promise<void>
}
