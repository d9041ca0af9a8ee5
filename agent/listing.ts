import { setTimeout as wait } from 'node:timers/promises'
import { type AgentFrame, linkLimits, type ServerFrame } from '#machines/protocol.ts'
import { parseAddress } from './address.ts'
import { isDriverError, type Listing } from './drivers/driver.ts'
import type { Lists } from './lists.ts'
import type { AgentLog } from './log.ts'

type Request = Extract<ServerFrame, { type: 'listingRequest' }>
type Frame = Extract<AgentFrame, { type: 'listing' }>
type Entry = Frame['entries'][number]
type Reading = Pick<Frame, 'state' | 'error'> & { entries: Entry[] }

/** Tells the server what stands on a list, for its `knoc validate`. Reads only; the lanes go on meanwhile. */
export type ListingAnswers = { take: (request: Request) => void }

/** Requests that may wait; a server asks for one list at a time. */
const mostWaiting = 16
/** Wait before looking again whether the link takes more, and how often that is done before it is given up. */
const room = { everyMs: 20, tries: 500 } as const

/** Builds the answering; lists are read one at a time. `hasRoom` is false while the link has enough to send. */
export function createListingAnswers(deps: {
  lists: Pick<Lists, 'find'>
  nowOrWall: () => number
  send: (frame: AgentFrame) => boolean
  hasRoom: () => boolean
  log: AgentLog
}): ListingAnswers {
  let waiting = 0
  let chain: Promise<void> = Promise.resolve()

  const answer = async ({ request, targetId }: Request): Promise<void> => {
    const checkedAtMs = deps.nowOrWall()
    const { entries, ...reading } = await read(targetId)
    const head = { type: 'listing' as const, request, targetId, checkedAtMs, ...reading }
    for (let at = 0; at === 0 || at < entries.length; at += linkLimits.listingEntries) {
      if (at > 0 && !(await untilRoom())) return
      const piece = entries.slice(at, at + linkLimits.listingEntries)
      const last = at + linkLimits.listingEntries >= entries.length
      // A link that is gone asks for nothing any more; the next one asks anew.
      if (!deps.send({ ...head, entries: piece, last })) return
    }
  }

  const read = async (targetId: string): Promise<Reading> => {
    const list = deps.lists.find(targetId)
    if (list === undefined) return failed('the agent does not know this list')
    try {
      const listing = await list.driver.list()
      if (listing === 'unlistable') return { state: 'unlistable', error: null, entries: [] }
      if (isDriverError(listing)) return failed(listing.text)
      return toReading(listing)
    } catch (error) {
      deps.log.error({ error: String(error) }, 'a driver failed unexpectedly')
      return failed('the agent’s driver failed; see its log')
    }
  }

  /** Orders and results share the link: a long list goes out in the pauses. */
  const untilRoom = async (): Promise<boolean> => {
    for (let tries = 0; tries < room.tries; tries += 1) {
      if (deps.hasRoom()) return true
      await wait(room.everyMs)
    }
    return false
  }

  return {
    take: (request) => {
      if (waiting >= mostWaiting) return
      waiting += 1
      chain = chain
        .then(() => answer(request))
        .catch((error: unknown) => deps.log.error({ error: String(error) }, 'a list could not be told'))
        .finally(() => {
          waiting -= 1
        })
    },
  }
}

/** The list as the wire takes it; one that holds something else, or too much, is not told in part. */
function toReading(listing: Listing): Reading {
  const most = linkLimits.listingEntries * linkLimits.listingFrames
  if (listing.size > most) return failed(`the list holds more than ${most} entries`)
  const entries = Array.from(listing, ([address, seconds]) => ({
    address,
    remainingSeconds: Math.max(0, Math.round(seconds)),
  }))
  const strange = entries.find(({ address }) => parseAddress(address) === undefined)
  if (strange !== undefined)
    return failed(`the list holds “${strange.address.slice(0, 64)}”, which is no address`)
  return { state: 'listed', error: null, entries }
}

const failed = (text: string): Reading => ({ state: 'failed', error: text.slice(0, 1000), entries: [] })
