import { z } from 'zod'
import { optionalText, requiredText } from '../platform/wire.schema.ts'

const types = z.enum(['dynamic', 'local', 'saml'])

/** POST /api/admin/groups: lists are whole. */
export const groupSchema = z.strictObject({
  ID: z.uuid().optional(),
  Name: requiredText(256),
  Description: optionalText(1024),
  Type: types.default('local'),
  ACLIDs: z.array(z.uuid()).max(10_000).optional(),
  UserIDs: z.array(z.uuid()).max(100_000).optional(),
})
export type GroupRequest = z.output<typeof groupSchema>

/** PUT /api/admin/groups/{id}: an absent field keeps its value, Type is fixed, lists are whole. */
export const groupUpdateSchema = groupSchema.extend({ Type: types.optional() })
export type GroupUpdate = z.output<typeof groupUpdateSchema>

/** One group as the console sees it. */
export type GroupRow = {
  ID: string
  Name: string
  Description: string | null
  Type: 'dynamic' | 'local' | 'saml'
  ACLIDs: string[]
  UserIDs: string[]
  UserCount: number
  LastModifiedAt: string
}
