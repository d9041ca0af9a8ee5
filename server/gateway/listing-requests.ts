import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import { createLimiter } from './limiter.ts'
import type { ListingAnswer, ListingPage } from './link-listings.ts'
import {
  finishValidation,
  saveListing,
  saveListingPage,
  takeValidations,
  type ValidationRequest,
} from './listing.store.ts'

/** A link as the asking needs it. */
export type ListingLink = {
  agentId: string
  epoch: () => number
  isClosed: () => boolean
  /** Whether its agent speaks a protocol that has listings. */
  canList: () => boolean
  askListing: (
    targetId: string,
    how: { withinMs: number; keep: (page: ListingPage) => Promise<void> },
  ) => Promise<ListingAnswer | null>
}

/** Agents a replica asks at once: each may have a long answer on its way into the database. */
const agentsAtOnce = 8

/**
 * The duty behind `knoc validate`: takes the requests for agents whose links this replica holds, asks each agent for
 * its lists, one after the other, and writes what stands there into the database, where the command compares it.
 */
export function createListingRequests(deps: {
  db: Kysely<DB>
  log: Log
  links: ReadonlyMap<string, ListingLink>
}) {
  const limited = createLimiter(agentsAtOnce)

  async function takeRequests(): Promise<void> {
    const held = [...deps.links.values()]
      .map((link) => ({ agentId: link.agentId, linkEpoch: link.epoch() }))
      .filter(({ linkEpoch }) => linkEpoch > 0)
    if (held.length === 0) return
    for (const request of await takeValidations(deps.db, held)) {
      const until = performance.now() + request.withinMs
      limited(() => carryOut(request, until)).catch((error: unknown) =>
        deps.log.warn({ err: error, agentId: request.agentId }, 'a validation could not be answered'),
      )
    }
  }

  async function carryOut({ id, agentId, targetIds }: ValidationRequest, until: number): Promise<void> {
    const link = deps.links.get(agentId)
    if (link !== undefined && !link.canList()) return finishValidation(deps.db, id, 'tooOld')
    for (const targetId of targetIds) {
      const place = { validationId: id, targetId }
      const answer = await link?.askListing(targetId, {
        withinMs: until - performance.now(),
        keep: (page) => saveListingPage(deps.db, place, page),
      })
      if (!answer) return finishValidation(deps.db, id, link?.isClosed() === false ? null : 'linkLost')
      await saveListing(deps.db, place, answer)
    }
    await finishValidation(deps.db, id, null)
  }

  return takeRequests
}
