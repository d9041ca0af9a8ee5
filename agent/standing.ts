import {
  closesAt,
  kernelTimeoutSeconds,
  longestKernelTimeoutSeconds,
  shouldStand,
} from '#machines/journal.ts'
import type { Held } from './held-entries.ts'

/** What the agent knows of the time and of its right to open. */
export type Standpoint = {
  /** The server's time; null while it is not known: then nothing stands. */
  now: number | null
  truthAt: number
  /** False for an agent the server finds too old: what stands may stay, nothing new opens. */
  mayOpen: boolean
}

/** Whether an entry is to stand now. */
export const isStanding = (held: Held, { now, truthAt, mayOpen }: Standpoint): boolean =>
  now !== null && shouldStand(held.entry, { now, truthAt }) && (mayOpen || held.applied?.stands === true)

/**
 * What one address of a list is to be, from the entries of all targets that mean the list: usually one, two while
 * an edited backend drains. It stands as long as any of them does, to the latest end among them.
 */
export function desiredOf(holders: readonly Held[], standpoint: Standpoint) {
  const standing = holders.filter((held) => isStanding(held, standpoint))
  const { now, truthAt } = standpoint
  if (now === null || standing.length === 0) return null
  const until = Math.max(...standing.map((held) => held.entry.until))
  const newest = standing.reduce((a, b) => (a.entry.generation >= b.entry.generation ? a : b))
  return {
    until,
    /** The earliest instant at which something about it may change by itself. */
    lookAt: Math.max(...standing.map((held) => closesAt(held.entry, { truthAt }))),
    timeoutSeconds: kernelTimeoutSeconds(until, now),
    userName: newest.entry.userName,
  }
}

/** An end further away than the kernel counts is written again halfway there; null for all others. */
export const renewAt = (until: number, now: number): number | null =>
  until - now > longestKernelTimeoutSeconds * 1000 ? now + longestKernelTimeoutSeconds * 500 : null

/** Whether the kernel's remaining time stands behind the end: within 2 s, or still long for one that is renewed. */
export function hasRightEnd(remainingSeconds: number, until: number, now: number): boolean {
  if (remainingSeconds === 0) return false
  const right = kernelTimeoutSeconds(until, now)
  if (right === longestKernelTimeoutSeconds) return remainingSeconds >= longestKernelTimeoutSeconds / 2 - 60
  return Math.abs(remainingSeconds - right) <= 2
}

/** Why an entry that the server wants open doesn't stand. */
export function reasonNotStanding(held: Held, { now, mayOpen }: Standpoint): { code: string; text: string } {
  if (now === null) return { code: 'clockUnknown', text: 'the agent does not know the time yet' }
  if (held.entry.until <= now) return { code: 'ended', text: 'its end had passed when the agent got to it' }
  if (!mayOpen) return { code: 'agentTooOld', text: 'this version of the agent may only close' }
  return { code: 'serverSilent', text: 'closed because the server has been silent' }
}

/** Whether the server wants it open and its end is not known to be over. */
export const isWantedAt = ({ desired, until }: Held['entry'], now: number | null): boolean =>
  desired === 'open' && (now === null || until > now)
