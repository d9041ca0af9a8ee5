import { z } from 'zod'
import type { Capabilities } from '#machines/protocol.ts'
import { requiredText } from '../platform/wire.schema.ts'

/** POST and PUT /api/admin/agents. */
export const agentSchema = z.strictObject({ ID: z.uuid().optional(), Name: requiredText(128) })

/** One agent as the console sees it. */
export type AgentRow = {
  ID: string
  Name: string
  /** Always '' in lists; the enrolment token is read by GET /api/admin/agents/{id}. */
  Token: string
  /** Null until the first connection: awaiting connection. */
  LastSeen: string | null
  Online: boolean
  Version: string | null
  ExternalIP: string | null
  Capabilities: Capabilities | null
  Backends: { ID: string; Name: string; Type: string }[]
  EnrolledAt: string | null
  Conflict: boolean
  /** Doors that wait to be seen closed. */
  Debts: number
  LastModifiedAt: string
}

/** GET /api/admin/agents/{id}: the same, with the token until it was used. */
export type AgentDetail = AgentRow & { TokenExpires: string | null; InstallCommand: string }

/** POST /api/admin/agents and POST /api/admin/agents/{id}/token. */
export type AgentCreated = { ID: string; Token: string }

/** POST /api/admin/agents/{id}/token. */
export const agentTokenSchema = z.strictObject({ Confirm: z.boolean().default(false) })
