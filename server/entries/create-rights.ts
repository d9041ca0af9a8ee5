import type { Kysely, Transaction } from 'kysely'
import { writeAudit } from '../audit/audit.store.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { goOn, listGoingOn } from '../grants/going-on.service.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { planAnew } from '../platform/prepared-statements.ts'
import { toLockOrder } from './entry-key.ts'
import { lockSubjects } from './lock-subjects.ts'
import type { EndReason, Rights, RightsScope } from './rights.ts'
import { type EndedGrant, endDeadGrants, readScopeKeys } from './scope-keys.query.ts'
import { entriesATransaction, manyEntries, settleEntries } from './settle-entries.ts'
import { leaveUnsettled, settleUnsettled } from './unsettled-entries.ts'

/** What the rights need: the grants pool, and whom to tell after the commit. */
export type RightsDeps = {
  db: Kysely<DB>
  gateway: Pick<Gateway, 'nudge'>
  events: Pick<EventHub, 'publish'>
}

/** Builds the one way to change what a right depends on; see `Rights`. */
export function createRights({ db, gateway, events }: RightsDeps): Rights {
  async function change<Result>(
    scope: RightsScope,
    reason: EndReason,
    act: (tx: Transaction<DB>) => Promise<Result>,
  ): Promise<Result> {
    const done = await inTransaction(db, async (tx) => {
      await lockSubjects(tx, scope)
      const before = await readScopeKeys(tx, scope)
      const result = await act(tx)
      if (!before.hasGrants && keepsLists(scope))
        return { result, ended: [], orders: [], isAll: true, goingOn: [] }
      if (before.keys.length > manyEntries) await planAnew(tx)
      const after = await readScopeKeys(tx, scope)
      const ended = await endDeadGrants(tx, scope, reason)
      await writeAudit(tx, ended.map(toAudit(reason)))
      const keys = toLockOrder([...before.keys, ...after.keys])
      const rest = keys.slice(entriesATransaction)
      await leaveUnsettled(tx, rest)
      const orders = await settleEntries(tx, keys.slice(0, entriesATransaction))
      const goingOn = await listGoingOn(tx, { acls: scope.acls ?? [], endedIds: ended.map(({ id }) => id) })
      return { result, ended, orders, isAll: rest.length === 0, goingOn }
    })
    gateway.nudge(done.orders)
    if (!done.isAll) await settleRest(db, gateway)
    events.publish([...new Set([...(scope.sessions ?? []), ...done.ended.map((grant) => grant.sessionId)])])
    // Last: what has ended is told whatever becomes of this.
    await goOn({ db, gateway, events }, done.goingOn)
    return done.result
  }
  return { change }
}

/**
 * Whether a change of this scope leaves every knoc's lists as they are. If no grant stands in it either, there is
 * nothing to lose: a change makes no grants, and nobody else can while the subjects are locked. So it is at most sign-ins.
 */
const keepsLists = ({ acls = [], everybody }: RightsScope): boolean => acls.length === 0 && everybody !== true

/**
 * The rights are gone with the first commit; what is left is only to order it, a thousand entries at a time. If the
 * process dies in here the sweep goes on with it.
 */
async function settleRest(db: Kysely<DB>, gateway: Pick<Gateway, 'nudge'>): Promise<void> {
  for (;;) {
    const { taken, orders } = await inTransaction(db, settleUnsettled)
    gateway.nudge(orders)
    if (taken === 0) return
  }
}

const toAudit = (reason: EndReason) => (grant: EndedGrant) => ({
  kind: 'RevokeGrant' as const,
  fields: { UserName: grant.userName, AclDescription: grant.description, IpAddress: grant.address },
  detail: { grantId: grant.id, aclId: grant.aclId, reason },
})
