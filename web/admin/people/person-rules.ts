import type { RefinementCtx } from 'zod'
import { newPasswordSchema } from '#server/auth/auth.schema.ts'
import { type AuthType, accountKinds } from '#server/users/account.schema.ts'

/** How an account stands with its second factor: who looks after it, and whether it is there. Portal §5. */
export function secondFactorState({
  AuthType: authType,
  TOTPEnabled,
  TOTPVerified,
}: {
  AuthType: AuthType
  TOTPEnabled: boolean
  TOTPVerified: boolean
}): 'provider' | 'none' | 'off' | 'on' | 'awaited' {
  const { hasSecondFactor, isMadeByProvider } = accountKinds[authType]
  if (!hasSecondFactor) return isMadeByProvider ? 'provider' : 'none'
  if (!TOTPEnabled) return 'off'
  return TOTPVerified ? 'on' : 'awaited'
}

/**
 * The rules for a password that the dialogs of users and admins share: 8 to 64 characters, typed twice the same; on
 * edit an empty one keeps the old. Console §5.
 */
export function checkPasswords(
  { AuthType: authType, Password, ConfirmPassword }: Passwords,
  context: RefinementCtx,
  { isKept }: { isKept: boolean },
): void {
  if (!accountKinds[authType].hasPassword) return
  const fail = (path: keyof Passwords, message: string) =>
    context.addIssue({ code: 'custom', message, path: [path] })
  if (!(isKept && Password === '') && !newPasswordSchema.safeParse(Password).success)
    fail('Password', Password === '' ? 'error.required' : 'form.passwordLength')
  if (Password !== ConfirmPassword) fail('ConfirmPassword', 'err.passwordsDontMatch')
}
type Passwords = { AuthType: AuthType; Password: string; ConfirmPassword: string }
