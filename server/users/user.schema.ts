import { z } from 'zod'
import { newPasswordSchema } from '../auth/auth.schema.ts'
import { instantSchema, optionalText, requiredText } from '../platform/wire.schema.ts'

const shared = {
  Name: requiredText(256),
  Company: optionalText(256),
  /** Session minutes. */
  Duration: z.number().int().min(1).max(525_600).default(480),
  /** Sessions at once; null = the licence's limit. */
  SessionLimit: z.number().int().min(1).max(10_000).nullish(),
  ValidUntil: instantSchema.nullish(),
  LoginEnabled: z.boolean().default(true),
  AclIds: z.array(z.uuid()).max(10_000).optional(),
}

/** POST /api/admin/users. */
export const userCreateSchema = z.strictObject({
  ...shared,
  UserName: z
    .string()
    .trim()
    .min(1)
    .max(256)
    .regex(/^[^\s\p{C}]+$/u),
  AuthType: z.enum(['local']).default('local'),
  PlainPassword: newPasswordSchema,
})
export type UserCreate = z.output<typeof userCreateSchema>
export type UserCreateInput = z.input<typeof userCreateSchema>

/** PUT /api/admin/users/{id}: absent optional fields keep their value, AclIds are the whole list. */
export const userUpdateSchema = z.strictObject({
  ID: z.uuid().optional(),
  Name: shared.Name,
  Company: shared.Company,
  Duration: z.number().int().min(1).max(525_600).optional(),
  SessionLimit: shared.SessionLimit,
  ValidUntil: shared.ValidUntil,
  LoginEnabled: z.boolean().optional(),
  AclIds: shared.AclIds,
  UserName: z.string().optional(),
  AuthType: z.string().optional(),
  PlainPassword: newPasswordSchema.or(z.literal('')).optional(),
})
export type UserUpdate = z.output<typeof userUpdateSchema>

/** One user as the console sees it. */
export type UserRow = {
  ID: string
  Name: string
  Company: string | null
  UserName: string
  AuthType: string
  Duration: number
  SessionLimit: number | null
  TOTPEnabled: boolean
  ValidUntil: string | null
  LoginEnabled: boolean
  LastLogin: string | null
  CreatedAt: string
  LastModifiedAt: string
  ActiveSession: boolean
  Licensed: boolean
  AclIds: string[]
}

/** GET /api/admin/users/{id}/sessions. */
export type UserSessionRow = { ID: string; Created: string; Ends: string; IPAddress: string }

/** GET /api/admin/users/{id}/groups. */
export type UserGroupRow = { ID: string; Name: string; Description: string | null; Type: string }

/** GET /api/admin/users/{id}/acls: what the user may have, given directly or by these groups. */
export type UserAclRow = { ID: string; Description: string; URL: string; Direct: boolean; Groups: string[] }
