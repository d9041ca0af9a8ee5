import { z } from 'zod'
import { newApiKeySchema } from '#server/api-keys/api-key.schema.ts'
import { type AuthType, accountKinds, authTypes } from '#server/users/account.schema.ts'
import {
  type UserCreateInput,
  type UserRow,
  type UserUpdate,
  userCreateSchema,
} from '#server/users/user.schema.ts'
import { checkPasswords } from '../people/person-rules.ts'
import { expiryOf, type KeyExpiry, keyExpiries } from './user-key.ts'

/** Session minutes that a new user's form starts with. Console §9. */
const initialMinutes = 480

/** What the user form holds. Empty texts stand for what isn't set. */
export type UserValues = {
  AuthType: AuthType
  Name: string
  Company: string
  UserName: string
  Password: string
  ConfirmPassword: string
  /** The account's place in the directory. */
  DN: string
  Duration: string | number
  SessionLimit: string | number
  /** A day as the date input writes it: the account is good to the end of that day. */
  ValidUntil: string
  TOTPEnabled: boolean
  LoginEnabled: boolean
  KeyName: string
  KeyExpiry: KeyExpiry
  AllowedFrom: { prefix: string; note: string }[]
}

/** Sessions at once that the licence permits; null: any number. */
export type UserFormRules = { user: UserRow | undefined; sessionLimit: number | null }

/** What the form starts with; a new user's SessionLimit is the licence's, and it must use a second factor. Console §5. */
export const toUserValues = ({ user, sessionLimit }: UserFormRules): UserValues => ({
  AuthType: user?.AuthType ?? 'local',
  Name: user?.Name ?? '',
  Company: user?.Company ?? '',
  UserName: user?.UserName ?? '',
  Password: '',
  ConfirmPassword: '',
  DN: user?.ThirdPartyAuth ?? '',
  Duration: user?.Duration ?? initialMinutes,
  SessionLimit: (user ? user.SessionLimit : sessionLimit) ?? '',
  ValidUntil: user?.ValidUntil ? toDay(new Date(user.ValidUntil)) : '',
  TOTPEnabled: user?.TOTPEnabled ?? true,
  LoginEnabled: user?.LoginEnabled ?? true,
  KeyName: '',
  KeyExpiry: '12',
  AllowedFrom: [
    { prefix: '0.0.0.0/0', note: '' },
    { prefix: '::/0', note: '' },
  ],
})

const missing = 'error.required'

/** The form's rule: the wire's own rules, and what each AuthType asks for. */
export const userFormSchema = ({ user, sessionLimit }: UserFormRules) => {
  const most = sessionLimit ?? 10_000
  const { Name, UserName } = userCreateSchema.shape
  return z
    .object({
      AuthType: z.enum(authTypes),
      Name,
      Company: z.string().trim().max(256),
      UserName: user ? z.string() : UserName,
      Password: z.string(),
      ConfirmPassword: z.string(),
      DN: z.string().trim().max(1024),
      Duration: toNumber.pipe(
        z.number(missing).int('form.minutes').min(1, 'form.minutes').max(525_600, 'form.minutes'),
      ),
      SessionLimit: toNumber.refine(
        (count) => Number.isNaN(count) || (Number.isInteger(count) && count >= 1 && count <= most),
        'form.sessionLimit',
      ),
      ValidUntil: z.string(),
      TOTPEnabled: z.boolean(),
      LoginEnabled: z.boolean(),
      KeyName: z.string().trim().max(256),
      KeyExpiry: z.enum(keyExpiries),
      AllowedFrom: z.array(z.object({ prefix: z.string().trim(), note: z.string().trim().max(256) })),
    })
    .superRefine((form, context) => {
      checkPasswords(form, context, { isKept: user !== undefined })
      if (form.AuthType !== 'apikey' || user !== undefined) return
      if (form.KeyName === '') context.addIssue({ code: 'custom', message: missing, path: ['KeyName'] })
      if (form.AllowedFrom.length === 0)
        return context.addIssue({ code: 'custom', message: 'form.rangeNeeded', path: ['AllowedFrom'] })
      const { AllowedFrom } = newApiKeySchema.shape
      for (const { path, message } of AllowedFrom.safeParse(form.AllowedFrom).error?.issues ?? [])
        context.addIssue({ code: 'custom', message, path: ['AllowedFrom', ...path] })
    })
}
export type UserForm = z.output<ReturnType<typeof userFormSchema>>

/** The body that creates a user; `now` is what an expiry counts from. */
export const toUserCreate = (form: UserForm, now = new Date()): UserCreateInput => ({
  ...toShared(form),
  UserName: form.UserName,
  AuthType: form.AuthType as UserCreateInput['AuthType'],
  ...(accountKinds[form.AuthType].hasPassword ? { PlainPassword: form.Password } : {}),
  ...(form.AuthType === 'apikey'
    ? {
        ApiKey: {
          Name: form.KeyName,
          AllowedFrom: form.AllowedFrom,
          ExpiredAfter: expiryOf(form.KeyExpiry, now),
        },
      }
    : {}),
})

/** The body that updates a user: an empty password keeps the stored one; memberships stay as they are. */
export const toUserUpdate = (form: UserForm, user: UserRow): UserUpdate => ({
  ID: user.ID,
  ...toShared({ ...form, AuthType: user.AuthType }),
  AclIds: user.AclIds,
  ...(accountKinds[user.AuthType].hasPassword && form.Password !== ''
    ? { PlainPassword: form.Password }
    : {}),
})

const toShared = (form: UserForm) => ({
  Name: form.Name,
  Company: form.Company === '' ? null : form.Company,
  Duration: form.Duration,
  SessionLimit: Number.isNaN(form.SessionLimit) ? null : form.SessionLimit,
  ValidUntil: form.ValidUntil === '' ? null : endOfDay(form.ValidUntil),
  LoginEnabled: form.LoginEnabled,
  ...(accountKinds[form.AuthType].hasDistinguishedName ? { ThirdPartyAuth: form.DN } : {}),
  ...(accountKinds[form.AuthType].hasSecondFactor ? { TOTPEnabled: form.TOTPEnabled } : {}),
})

const toNumber = z
  .union([z.string(), z.number()])
  .transform((value) => (value === '' ? Number.NaN : Number(value)))

const toDay = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')

/** The last second of a day where the administrator is. */
const endOfDay = (day: string): string => new Date(`${day}T23:59:59`).toISOString()
