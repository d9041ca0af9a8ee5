/** What makes one list out of another. */
export type ListChange = { added: string[]; removed: string[] }

/** The difference between a list as it is and as it is wanted; nothing when nothing is wanted. */
export function toListChange(present: readonly string[], wanted: readonly string[] | undefined): ListChange {
  if (wanted === undefined) return { added: [], removed: [] }
  const [is, shall] = [new Set(present), new Set(wanted)]
  return {
    added: [...shall].filter((id) => !is.has(id)),
    removed: present.filter((id) => !shall.has(id)),
  }
}

/** Ids of one change that the audit log keeps. */
const auditedIds = 100

/** A difference for the audit log: how many, and the first of them. */
export const toAuditDetail = ({ added, removed }: ListChange) => ({
  addedCount: added.length,
  added: added.slice(0, auditedIds),
  removedCount: removed.length,
  removed: removed.slice(0, auditedIds),
})
