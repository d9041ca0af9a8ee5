import { z } from 'zod'

/** A name as it is typed; nobody's has a control character. */
const userNameSchema = z
  .string()
  .min(1)
  .max(256)
  .regex(/^\P{Cc}*$/u)

/** A password as it is typed; as long as the first administrator's may be in the environment. */
export const typedPasswordSchema = z.string().min(1).max(1024)

/** Sign-in and password bodies of both realms. Portal §3, §7. */
export const loginSchema = z.strictObject({
  UserName: userNameSchema,
  Password: typedPasswordSchema,
  KioskMode: z.boolean().default(false),
})
export const adminLoginSchema = z.strictObject({
  UserName: userNameSchema,
  Password: typedPasswordSchema,
})

/**
 * A new password: 8 to 64 characters, portal §5, counted as people count them: a code point is one. Whether it leaked
 * is asked where it is stored, `hashNewPassword`.
 */
export const newPasswordSchema = z.string().refine((password) => {
  const { length } = Array.from(password)
  return length >= 8 && length <= 64
}, 'err.passwordLength')

export const userPasswordSchema = z.strictObject({
  CurrentPassword: typedPasswordSchema,
  NewPassword: newPasswordSchema,
})
export const adminPasswordSchema = z.strictObject({
  ExistingPassword: typedPasswordSchema,
  NewPassword: newPasswordSchema,
})

/** What an admin sign-in answers: which step comes next. Spec README "Second factor, sessions". */
export type AdminLoginAnswer = {
  TotpEnabled: boolean
  AdminTotpVerified: boolean
  /** A passkey can be the second step. */
  HasPasskey: boolean
  TotpEnrolmentDeferable: boolean
}
