import type { AuditFields } from '#server/audit/audit.events.ts'
import type { AdminStatus } from '#server/status/status.schema.ts'

/** One line of the recent activity. */
export type ActivityLine = {
  /** Its own among the lines shown: one act may write the same fact twice at the same moment. */
  id: string
  at: string
  /** The event's kind; its text is `audit.<kind>`. */
  kind: string
  /** Who did it: a user, an admin, or the agent that reported it. */
  who: string | undefined
  /** What it was done to, where the event names it. */
  about: string | undefined
}

/** The status's activity as lines. An entry is one key, the kind, with its fields; console §3 "Audit entry". */
export const toActivityLines = (activity: AdminStatus['Activity']): ActivityLine[] =>
  activity.flatMap(({ Entry, Date: at }, index) =>
    Object.entries(Entry).map(([kind, value]) => {
      const fields = value as AuditFields
      return {
        id: `${at} ${index}`,
        at,
        kind,
        who: fields.UserName ?? fields.AdminName ?? fields.AgentName,
        about: fields.AclDescription ?? fields.Description ?? fields.ErrorMessage,
      }
    }),
  )
