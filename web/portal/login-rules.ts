import { loginSchema } from '#server/auth/auth.schema.ts'

/** The fields of the login form, in the order in which they are asked for. */
export const loginFields = ['UserName', 'Password'] as const
export type LoginField = (typeof loginFields)[number]

/** What is wrong with a field, as its rule says. */
export type LoginFaults = Partial<Record<LoginField, string | undefined>>

/** The rules of the login form: those of the request it makes. */
export function loginFaults(form: Record<LoginField, string>): LoginFaults {
  const { error } = loginSchema.safeParse(form)
  const faults: LoginFaults = {}
  for (const { path, message } of error?.issues ?? [])
    for (const field of loginFields) if (path[0] === field) faults[field] ??= message
  return faults
}
