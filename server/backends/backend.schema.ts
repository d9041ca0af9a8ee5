import { z } from 'zod'
import type { PassivePlusPart } from '../acls/acl.schema.ts'
import { requiredText } from '../platform/wire.schema.ts'

/** One key, the type, with that type's settings. */
const configSchema = z
  .record(z.string(), z.unknown())
  .refine((config) => Object.keys(config).length === 1, 'err.noBackendSelected')

/** A backend as a knoc brings it: the agent and one key, the type, with that type's settings. */
export const backendFieldsSchema = z.strictObject({
  AgentID: z.uuid().nullable().default(null),
  Config: configSchema,
})
export type BackendFields = z.output<typeof backendFieldsSchema>

/** The same in an update: what is absent stays. */
export const backendChangeSchema = z.strictObject({
  AgentID: z.uuid().nullable().optional(),
  Config: configSchema.optional(),
})
export type BackendChange = z.output<typeof backendChangeSchema>

const idAndName = { ID: z.uuid().optional(), Name: requiredText(256) }

/** POST /api/admin/backends. */
export const backendSchema = z.strictObject({ ...backendFieldsSchema.shape, ...idAndName })

/** PUT /api/admin/backends/{id}. */
export const backendUpdateSchema = z.strictObject({
  ...backendChangeSchema.shape,
  ID: idAndName.ID,
  Name: idAndName.Name.optional(),
})

/** One backend as the console sees it. All-zero AgentID = none. */
export type BackendRow = {
  ID: string
  Name: string
  Type: string
  AgentID: string
  AgentName: string | null
  /** One key, the type; a recorded secret reads RECORDED. */
  Config: Record<string, unknown>
  /** Its secrets can't be read any more and have to be given again. */
  NeedsCredentials: boolean
  ACLCount: number
  /** Whether its ACLs are parents or children of Passive+ knocs. */
  PassivePlus: PassivePlusPart
  LastModifiedAt: string
  LastModifiedBy: string | null
}

/** The id that means 'no agent' on the wire. */
export const noAgentId = '00000000-0000-0000-0000-000000000000'
