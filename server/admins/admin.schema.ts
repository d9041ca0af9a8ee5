import { z } from 'zod'
import { newPasswordSchema } from '../auth/auth.schema.ts'
import { requiredText } from '../platform/wire.schema.ts'
import { type AuthType, distinguishedNameSchema } from '../users/account.schema.ts'

/** What an administrator may be. Specification README "Wire values". */
export const adminRoles = ['owner'] as const

/** How an administrator may sign in; nobody acts in the console with an API key. Console §3. */
export const adminAuthTypes = ['local', 'LDAP', 'SAML', 'OIDC'] as const satisfies readonly AuthType[]

const shared = {
  Name: requiredText(256),
  /** The same password once more, as the form has it; checked when it is sent. */
  ConfirmPassword: z.string().max(1024).optional(),
  DN: distinguishedNameSchema,
}

/** POST /api/admin/admins. */
export const adminCreateSchema = z.strictObject({
  ...shared,
  UserName: z
    .string()
    .trim()
    .min(1)
    .max(256)
    .regex(/^\P{C}+$/u),
  AuthType: z.enum(adminAuthTypes),
  PlainPassword: newPasswordSchema.or(z.literal('')).optional(),
  TOTPEnabled: z.boolean().default(false),
  LoginEnabled: z.boolean().default(true),
  Role: z.enum(adminRoles).default('owner'),
})
export type AdminCreate = z.output<typeof adminCreateSchema>
export type AdminCreateInput = z.input<typeof adminCreateSchema>

/** PUT /api/admin/admins/{id}: absent fields keep their value; UserName and AuthType are fixed. */
export const adminUpdateSchema = z.strictObject({
  ...shared,
  ID: z.uuid().optional(),
  UserName: z.string().optional(),
  AuthType: z.string().optional(),
  PlainPassword: newPasswordSchema.or(z.literal('')).optional(),
  TOTPEnabled: z.boolean().optional(),
  LoginEnabled: z.boolean().optional(),
  Role: z.enum(adminRoles).optional(),
})
export type AdminUpdate = z.output<typeof adminUpdateSchema>
export type AdminUpdateInput = z.input<typeof adminUpdateSchema>

/** One administrator as the console sees it. */
export type AdminRow = {
  ID: string
  Name: string
  UserName: string
  AuthType: (typeof adminAuthTypes)[number]
  /** Must use a second factor. */
  TOTPEnabled: boolean
  /** Has a confirmed secret. */
  TOTPVerified: boolean
  LoginEnabled: boolean
  Role: string
  /** LDAP only. */
  DN: string | null
  LastLogin: string | null
  CreatedAt: string
  LastModifiedAt: string
  /** How many passkeys are registered. */
  Passkeys: number
}

/** GET /api/admin/admins/{id}/sessions. */
export type AdminSessionRow = {
  ID: string
  Created: string
  Ends: string
  IPAddress: string
  /** The session that asks. */
  Current: boolean
}
