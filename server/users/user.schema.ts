import { z } from 'zod'
import { newApiKeySchema } from '../api-keys/api-key.schema.ts'
import { newPasswordSchema } from '../auth/auth.schema.ts'
import { instantSchema, optionalText, requiredText } from '../platform/wire.schema.ts'
import { type AuthType, distinguishedNameSchema } from './account.schema.ts'

/** How a user that an administrator makes may sign in; SAML and OIDC make theirs themselves. */
export const creatableAuthTypes = ['local', 'LDAP', 'apikey'] as const satisfies readonly AuthType[]

const shared = {
  Name: requiredText(256),
  Company: optionalText(256),
  /** Session minutes. */
  Duration: z.number().int().min(1).max(525_600).default(480),
  /** Sessions at once; null = the licence's limit. */
  SessionLimit: z.number().int().min(1).max(10_000).nullish(),
  ValidUntil: instantSchema.nullish(),
  LoginEnabled: z.boolean().default(true),
  /** LDAP: the distinguished name, needed unless the directory has a service account that searches. */
  ThirdPartyAuth: distinguishedNameSchema,
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
  AuthType: z.enum(creatableAuthTypes).default('local'),
  /** Local users must have one, the others none. */
  PlainPassword: newPasswordSchema.optional(),
  /** The account must use a second factor. */
  TOTPEnabled: z.boolean().default(false),
  /** The key of an apikey user, made with it. */
  ApiKey: newApiKeySchema.optional(),
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
  TOTPEnabled: z.boolean().optional(),
  ThirdPartyAuth: shared.ThirdPartyAuth,
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
  AuthType: AuthType
  Duration: number
  SessionLimit: number | null
  /** Must use a second factor. */
  TOTPEnabled: boolean
  /** Has a confirmed secret. */
  TOTPVerified: boolean
  /** LDAP: the distinguished name; OIDC: issuer and subject. */
  ThirdPartyAuth: string | null
  ValidUntil: string | null
  LoginEnabled: boolean
  LastLogin: string | null
  CreatedAt: string
  LastModifiedAt: string
  ActiveSession: boolean
  Licensed: boolean
  AclIds: string[]
}

/** What the creation of a user answers; the key of an apikey user, this once. */
export type UserCreated = { ID: string; PlaintextKey?: string }

/** GET /api/admin/users/{id}/sessions. */
export type UserSessionRow = { ID: string; Created: string; Ends: string; IPAddress: string }

/** GET /api/admin/users/{id}/groups. */
export type UserGroupRow = { ID: string; Name: string; Description: string | null; Type: string }

/** GET /api/admin/users/{id}/acls: what the user may have, given directly or by these groups. */
export type UserAclRow = { ID: string; Description: string; URL: string; Direct: boolean; Groups: string[] }
