import { z } from 'zod'
import {
  type AdminCreateInput,
  type AdminRow,
  type AdminUpdateInput,
  adminAuthTypes,
  adminCreateSchema,
} from '#server/admins/admin.schema.ts'
import { accountKinds } from '#server/users/account.schema.ts'
import { checkPasswords } from '../people/person-rules.ts'

/** What the admin form holds. */
export type AdminValues = {
  AuthType: (typeof adminAuthTypes)[number]
  Name: string
  UserName: string
  Password: string
  ConfirmPassword: string
  DN: string
  TOTPEnabled: boolean
  LoginEnabled: boolean
}

/** What the form starts with; a new admin must use a second factor. Specification README "TOTP flags". */
export const toAdminValues = (admin: AdminRow | undefined): AdminValues => ({
  AuthType: admin?.AuthType ?? 'local',
  Name: admin?.Name ?? '',
  UserName: admin?.UserName ?? '',
  Password: '',
  ConfirmPassword: '',
  DN: admin?.DN ?? '',
  TOTPEnabled: admin?.TOTPEnabled ?? true,
  LoginEnabled: admin?.LoginEnabled ?? true,
})

/** The form's rule: the wire's own rules, and the password typed twice the same. Console §5. */
export const adminFormSchema = (admin: AdminRow | undefined) => {
  const { Name, UserName } = adminCreateSchema.shape
  return z
    .object({
      AuthType: z.enum(adminAuthTypes),
      Name,
      UserName: admin ? z.string() : UserName,
      Password: z.string(),
      ConfirmPassword: z.string(),
      DN: z.string().trim().max(1024),
      TOTPEnabled: z.boolean(),
      LoginEnabled: z.boolean(),
    })
    .superRefine((form, context) => checkPasswords(form, context, { isKept: admin !== undefined }))
}
export type AdminForm = z.output<ReturnType<typeof adminFormSchema>>

/** The body that creates an admin. */
export const toAdminCreate = (form: AdminForm): AdminCreateInput => ({
  ...toShared(form, form.AuthType),
  UserName: form.UserName,
  AuthType: form.AuthType,
})

/** The body that updates an admin: an empty password keeps the stored one. */
export const toAdminUpdate = (form: AdminForm, admin: AdminRow): AdminUpdateInput => ({
  ID: admin.ID,
  ...toShared(form, admin.AuthType),
})

function toShared(form: AdminForm, authType: AdminRow['AuthType']) {
  const { hasPassword, hasDistinguishedName, hasSecondFactor } = accountKinds[authType]
  return {
    Name: form.Name,
    LoginEnabled: form.LoginEnabled,
    ...(hasPassword && form.Password !== ''
      ? { PlainPassword: form.Password, ConfirmPassword: form.ConfirmPassword }
      : {}),
    ...(hasDistinguishedName ? { DN: form.DN } : {}),
    ...(hasSecondFactor ? { TOTPEnabled: form.TOTPEnabled } : {}),
  }
}
