import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { AuditEvent } from './audit.events.ts'

/** Writes facts down, in the transaction of the change they tell. Positions and chain come later, from the sealer. */
export async function writeAudit(
  tx: Kysely<DB>,
  events: readonly AuditEvent[],
  requestId: string | null = null,
): Promise<void> {
  if (events.length === 0) return
  await tx
    .insertInto('auditEvents')
    .values(
      events.map((event) => ({
        kind: event.kind,
        fields: JSON.stringify(event.fields),
        detail: event.detail === undefined ? null : JSON.stringify(event.detail),
        requestId,
      })),
    )
    .execute()
}

/** The newest facts, newest first, for the dashboard's activity. */
export async function listRecentAudit(
  db: Kysely<DB>,
  limit: number,
): Promise<{ kind: string; fields: unknown; at: Date }[]> {
  return db
    .selectFrom('auditEvents')
    .select(['kind', 'fields', 'at'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
