import { z } from 'zod'
import {
  type UserCreateInput,
  type UserRow,
  type UserUpdate,
  userCreateSchema,
  userUpdateSchema,
} from '#server/users/user.schema.ts'

/** Session minutes that a new user's form starts with. Console §9. */
const initialMinutes = 480

/** What the user form holds. Empty texts stand for what isn't set. */
export type UserValues = {
  Name: string
  Company: string
  UserName: string
  Password: string
  ConfirmPassword: string
  Duration: string | number
  SessionLimit: string | number
  /** A day as the date input writes it: the account is good to the end of that day. */
  ValidUntil: string
  LoginEnabled: boolean
}

/** Sessions at once that the licence permits; null: any number. */
export type UserFormRules = { user: UserRow | undefined; sessionLimit: number | null }

/** What the form starts with; a new user's SessionLimit is the licence's. Console §5. */
export const toUserValues = ({ user, sessionLimit }: UserFormRules): UserValues => ({
  Name: user?.Name ?? '',
  Company: user?.Company ?? '',
  UserName: user?.UserName ?? '',
  Password: '',
  ConfirmPassword: '',
  Duration: user?.Duration ?? initialMinutes,
  SessionLimit: (user ? user.SessionLimit : sessionLimit) ?? '',
  ValidUntil: user?.ValidUntil ? toDay(new Date(user.ValidUntil)) : '',
  LoginEnabled: user?.LoginEnabled ?? true,
})

const missing = 'error.required'

/** The form's rule: the wire's own rules, and that the password was typed twice the same. */
export const userFormSchema = ({ user, sessionLimit }: UserFormRules) => {
  const most = sessionLimit ?? 10_000
  const { Name, UserName } = userCreateSchema.shape
  return z
    .object({
      Name,
      Company: z.string().trim().max(256),
      UserName: user ? z.string() : UserName,
      Password: z.string(),
      ConfirmPassword: z.string(),
      Duration: toNumber.pipe(
        z.number(missing).int('form.minutes').min(1, 'form.minutes').max(525_600, 'form.minutes'),
      ),
      SessionLimit: toNumber.refine(
        (count) => Number.isNaN(count) || (Number.isInteger(count) && count >= 1 && count <= most),
        'form.sessionLimit',
      ),
      ValidUntil: z.string(),
      LoginEnabled: z.boolean(),
    })
    .superRefine(({ Password, ConfirmPassword }, context) => {
      const isKept = user !== undefined && Password === ''
      if (!isKept && !userCreateSchema.shape.PlainPassword.safeParse(Password).success)
        context.addIssue({ code: 'custom', message: 'err.passwordLength', path: ['Password'] })
      if (Password !== ConfirmPassword)
        context.addIssue({ code: 'custom', message: 'err.passwordsDontMatch', path: ['ConfirmPassword'] })
    })
}
export type UserForm = z.output<ReturnType<typeof userFormSchema>>

/** The body that creates a user. */
export const toUserCreate = (form: UserForm): UserCreateInput => ({
  ...toShared(form),
  UserName: form.UserName,
  AuthType: 'local',
  PlainPassword: form.Password,
})

/** The body that updates a user: an empty password keeps the stored one; memberships stay as they are. */
export const toUserUpdate = (form: UserForm, user: UserRow): UserUpdate => {
  const body = { ID: user.ID, ...toShared(form), AclIds: user.AclIds }
  return userUpdateSchema.parse(form.Password === '' ? body : { ...body, PlainPassword: form.Password })
}

const toShared = (form: UserForm) => ({
  Name: form.Name,
  Company: form.Company === '' ? null : form.Company,
  Duration: form.Duration,
  SessionLimit: Number.isNaN(form.SessionLimit) ? null : form.SessionLimit,
  ValidUntil: form.ValidUntil === '' ? null : endOfDay(form.ValidUntil),
  LoginEnabled: form.LoginEnabled,
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
