import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { type Difference, differ } from './differences.ts'
import {
  listDeadHolders,
  listOverdue,
  listUnsettled,
  listWronglyOrdered,
  type OrderedEntry,
} from './orders.query.ts'
import { sinceText } from './words.ts'

/**
 * What the database says by itself: orders that are not what the live grants are, ends that nobody carried out, and
 * orders that nobody answered. Lists that firewalls fetch have no more to compare than this.
 */
export async function lookAtOrders(db: Kysely<DB>, limit: number): Promise<Difference[]> {
  const wrong = await listWronglyOrdered(db)
  const overdue = await listOverdue(db, limit)
  const unsettled = await listUnsettled(db, limit)
  const dead = await listDeadHolders(db)
  return [
    ...wrong.map((entry) =>
      entry.desired === 'open'
        ? differ('ungranted', {
            ...placeOf(entry),
            since: sinceText(entry.orderedAt),
            detail: `no live grant holds it; its end is ${sinceText(entry.until) ?? 'unknown'}`,
          })
        : differ('unordered', {
            ...placeOf(entry),
            userName: entry.holder,
            since: sinceText(entry.heldSince),
            detail: 'a live grant holds it',
          }),
    ),
    ...dead.map(({ userName, knoc, address, createdAt }) =>
      differ('deadGrant', {
        address,
        userName,
        knocs: knoc,
        since: sinceText(createdAt),
        detail: 'its grant still stands',
      }),
    ),
    ...overdue.map((entry) =>
      differ('overdue', {
        ...placeOf(entry),
        since: sinceText(entry.until),
        detail: `its end was ${sinceText(entry.until) ?? 'unknown'}`,
      }),
    ),
    ...unsettled.map((entry) =>
      differ('unsettled', {
        ...placeOf(entry),
        since: sinceText(entry.orderedAt),
        detail: `ordered ${entry.desired}${entry.errorText === null ? '' : `: ${entry.errorText}`}`,
      }),
    ),
  ]
}

const placeOf = (
  entry: Pick<OrderedEntry, 'agent' | 'list' | 'targetId' | 'address' | 'userName'> & {
    generation: number | null
  },
) => ({
  agent: entry.agent,
  list: entry.list,
  targetId: entry.targetId,
  address: entry.address,
  userName: entry.userName,
  generation: entry.generation,
})
