import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { DB } from '../platform/database.types.ts'

/** Writes down what became of a knoc, by its parent's id where it has a child. */
export async function tellKnoc(
  tx: Kysely<DB>,
  kind: 'CreateKnoc' | 'UpdateKnoc' | 'DeleteKnoc',
  facts: Acting & { aclId: string; description: string; detail?: Record<string, unknown> },
): Promise<void> {
  const { aclId, description, by, requestId, detail } = facts
  const fields = { AdminName: by, AclDescription: description }
  await writeAudit(tx, [{ kind, fields, detail: { aclId, ...detail } }], requestId)
}
