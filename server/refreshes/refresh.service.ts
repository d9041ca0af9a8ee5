import type { Kysely } from 'kysely'
import type { AuditEvent } from '../audit/audit.events.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { type DueRefresh, tooOldCode } from './due-refresh.query.ts'
import { listWaitingSessions } from './list-sessions.query.ts'
import { type AnsweredRefresh, type RefreshAnswer, saveAnswer } from './refresh.store.ts'

export { closeWindows } from './refresh.store.ts'

/**
 * Takes how the telling of a device ended, from the link that holds its agent; of another agent's device, and of an
 * older link, nothing is taken. Only a change is written to the log: another failure than the last, or none after one.
 *
 * @returns the sessions to tell.
 */
export async function takeAnswer(
  db: Kysely<DB>,
  link: { agentId: string; linkEpoch: number },
  asked: DueRefresh,
  answer: RefreshAnswer,
): Promise<string[]> {
  const answered = await inTransaction(db, async (tx) => {
    const row = await saveAnswer(tx, link, asked, answer)
    if (row !== undefined) await writeAudit(tx, toAudit(row, asked, answer))
    return row
  })
  if (answered === undefined || (answered.errorBefore === null) === (answer.error === null)) return []
  return listWaitingSessions(db, answered.listId)
}

/** What is noted for an agent that can't tell devices anything: said once, and over with a younger one's first link. */
export const tooOld = (atMs: number): RefreshAnswer => ({
  atMs,
  error: { code: tooOldCode, text: 'The agent’s version is too old to have a firewall fetch its list.' },
})

function toAudit(row: AnsweredRefresh, { targetId }: DueRefresh, { error }: RefreshAnswer): AuditEvent[] {
  if (row.errorBefore === (error?.code ?? null)) return []
  return [
    {
      kind: error === null ? 'ListRefreshed' : 'ListRefreshFailed',
      fields: {
        AgentName: row.agentName,
        ...(row.description !== null && { AclDescription: row.description }),
        ...(error !== null && { ErrorMessage: error.text }),
      },
      detail: { targetId, key: row.listKey, ...(error !== null && { code: error.code }) },
    },
  ]
}
