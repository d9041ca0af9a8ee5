import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import { getAgentHead, listDriftOfAgent, listListsOfAgent } from './agent-list.query.ts'
import type { AgentLists } from './agent-list.schema.ts'
import { lockDrainingList, markListForgotten } from './agent-list.store.ts'

/** What an agent looks after and what was found there. Throws err.notFound. */
export async function readAgentLists({ db }: Pick<Deps, 'db'>, id: string): Promise<AgentLists> {
  const [agent, lists, drift] = await Promise.all([
    getAgentHead(db.lists, id),
    listListsOfAgent(db.lists, id),
    listDriftOfAgent(db.lists, id),
  ])
  return { Agent: agent, Lists: lists, Drift: drift }
}

/**
 * Gives up a list that drains although its doors were never seen closed: its host or device will not come back. An
 * agent that does come back closes what it still holds there. Throws err.notFound, err.listInUse.
 */
export async function forgetList(
  { db }: Pick<Deps, 'db'>,
  { agentId, listId, reason, by, requestId }: Acting & { agentId: string; listId: string; reason: string },
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    const list = await lockDrainingList(tx, { agentId, listId })
    if (list === undefined) throw apiError('err.notFound')
    if (!list.draining) throw apiError('err.listInUse')
    await markListForgotten(tx, listId, reason)
    await writeAudit(
      tx,
      [
        {
          kind: 'TargetForgotten',
          fields: { AdminName: by, AgentName: list.agentName, Description: reason },
          detail: { targetId: listId, key: list.key, doors: list.doors },
        },
      ],
      requestId,
    )
  })
}
