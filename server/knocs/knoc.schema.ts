import { z } from 'zod'
import { type AclFields, aclChangeSchema, aclFieldsSchema, confirmation } from '../acls/acl.schema.ts'
import type { ListRefresh } from '../agents/agent-list.schema.ts'
import { listKeySchema } from '../api-keys/api-key.schema.ts'
import { backendChangeSchema, backendFieldsSchema } from '../backends/backend.schema.ts'

/**
 * The child of a Passive+ knoc: the firewall that is told to fetch the list. Of ACL only Config is the child's own; what
 * else stands there is the parent's to say, and the child mirrors it. Specification README "Passive+".
 */
const childSchema = z.strictObject({
  Backend: backendFieldsSchema,
  ACL: z.strictObject({ ...aclChangeSchema.shape, Config: aclFieldsSchema.shape.Config }),
})

/** POST /api/admin/knocs: the whole knoc. Spec README "Body of a knoc". */
export const knocSchema = z.strictObject({
  ID: z.uuid().optional(),
  Backend: backendFieldsSchema,
  ACL: aclFieldsSchema,
  Child: childSchema.optional(),
  /** Passive lists only; absent = none. */
  ApiKey: listKeySchema.optional(),
  ...confirmation,
  UserIDs: z.array(z.uuid()).max(10_000).default([]),
  GroupIDs: z.array(z.uuid()).max(10_000).default([]),
})
export type KnocRequest = z.output<typeof knocSchema>
export type KnocInput = z.input<typeof knocSchema>

/** PUT /api/admin/knocs/{id}: what is absent stays, lists are whole. */
export const knocUpdateSchema = z.strictObject({
  ID: z.uuid().optional(),
  Backend: backendChangeSchema.optional(),
  ACL: aclChangeSchema.optional(),
  Child: z
    .strictObject({ Backend: backendChangeSchema.optional(), ACL: aclChangeSchema.optional() })
    .optional(),
  ...confirmation,
  UserIDs: z.array(z.uuid()).max(10_000).optional(),
  GroupIDs: z.array(z.uuid()).max(10_000).optional(),
})
export type KnocUpdate = z.output<typeof knocUpdateSchema>
export type KnocUpdateInput = z.input<typeof knocUpdateSchema>

/** One knoc of the console's list. */
export type KnocRow = {
  ID: string
  Name: string
  ParentID: string | null
  Children: string[]
  HideFromAdmins: boolean
  HideFromUsers: boolean
  BackendID: string
  BackendName: string
  BackendType: string
  AgentID: string
  AgentName: string | null
  AgentOnline: boolean
  BackendConfig: Record<string, unknown>
  AclConfig: Record<string, unknown>
  /** The firewalls that are told to fetch its list, of a Passive+ knoc; its children, oldest first. */
  Firewalls: KnocFirewall[]
  URL: string
  Category: string
  Icon: string
  UserCount: number
  GroupCount: number
  /** Addresses open now, and how many of them are not yet verified as ordered. */
  OpenCount: number
  UnsettledCount: number
  LastModifiedAt: string
  LastModifiedBy: string | null
}

/** A firewall of a Passive+ knoc, and the agent that tells it. */
export type KnocFirewall = {
  /** The child ACL. */
  ACLID: string
  Type: string
  Hostname: string
  EDLName: string
  AgentID: string
  AgentName: string
  AgentOnline: boolean
  Refresh: ListRefresh | null
}

/** Backend and ACL as they are written. */
type KnocParts = {
  Backend: { AgentID: string | null; Config: Record<string, unknown> }
  ACL: AclFields & { ID: string }
}

/** GET /api/admin/knocs/{id}. A child's fields are its parent's, but for Config. */
export type KnocDetail = KnocRow &
  KnocParts & {
    /** Of a Passive+ parent; the oldest where there are several. */
    Child?: KnocParts
    UserIDs: string[]
    GroupIDs: string[]
  }

/** What creation answers. URL is a passive list's, PlaintextKey its new key: told once. */
export type KnocCreated = { ID: string; ChildID?: string; URL?: string; PlaintextKey?: string }
