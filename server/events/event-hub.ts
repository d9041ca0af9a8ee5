/**
 * Live hints to open pages: 'something of this session changed, read the status again' (decision 40).
 *
 * Sent after commits, collected for 50 ms, to every replica; a hint may be lost, the polls stand behind it.
 */
export type EventHub = {
  /** Tells the pages of these sessions that entries changed. */
  publish(sessionIds: readonly string[]): void
  /** Calls `listener` for each hint to one session until the returned function is called. */
  subscribe(sessionId: string, listener: () => void): () => void
}
