import type { Kysely } from 'kysely'
import { lockGranting } from '../entries/lock-subjects.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { GoingOn } from './going-on.query.ts'
import { stand } from './stand.ts'

export { type GoingOn, listGoingOn } from './going-on.query.ts'

/** Sessions moved at the same time. */
const atOnce = 4

/**
 * Moves open doors to where their knoc opens now: other fixed addresses, the user's own in place of fixed ones or the
 * other way round, a list for another family, discovered addresses of a knoc that became open to CGNAT. Each keeps
 * its end. What was shut stays shut until its user is seen again or clicks (specification README "A session that
 * lives on"): an address that nobody looks at may be somebody else's by now.
 *
 * Runs after the change's commit, in granting transactions of its own. If the process dies in here, the sessions'
 * next re-validation does the rest.
 */
export async function goOn(
  deps: { db: Kysely<DB>; gateway: Pick<Gateway, 'nudge'>; events: Pick<EventHub, 'publish'> },
  sessions: readonly GoingOn[],
): Promise<void> {
  for (let from = 0; from < sessions.length; from += atOnce)
    await Promise.all(sessions.slice(from, from + atOnce).map((session) => moveDoors(deps, session)))
}

async function moveDoors(
  { db, gateway, events }: Parameters<typeof goOn>[0],
  { aclIds, ...grantee }: GoingOn,
): Promise<void> {
  const orders = await inTransaction(db, async (tx) => {
    await lockGranting(tx, { userId: grantee.userId, sessionId: grantee.id, acls: aclIds })
    return stand(tx, grantee, { goingOn: aclIds })
  })
  gateway.nudge(orders)
  events.publish([grantee.id])
}
