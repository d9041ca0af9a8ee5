import { expect } from 'vitest'

/** How long one thing may take in a journey through several servers, on a busy machine, in milliseconds. */
export const patience = 60_000

/**
 * How long a journey may take, in milliseconds. Journeys are tried twice: other tests make and remove network
 * interfaces beside them, at which Chromium drops what it is loading (net::ERR_NETWORK_CHANGED). A fault of ours comes
 * again, and the report says which journey needed it.
 */
export const journeyTime = 300_000

/** `expect.poll` with that patience: `await eventually(() => page.title()).toBe('…')`. */
export const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: patience, interval: 20 })
