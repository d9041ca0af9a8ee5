import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import { leakedPasswords } from './leaked-passwords.ts'
import { toPasswordKey } from './password-key.ts'

/** A password that somebody chose, for whom, and the body's field it came in. */
export type NewPassword = { password: string; userName: string; field: string }

/**
 * The hash of a password that somebody chose, to be stored. The one way to it: its length is `newPasswordSchema`'s
 * business, and what everybody tries first is refused here.
 *
 * @throws err.passwordLeaked, err.passwordIsUserName, both with the field; err.serviceUnavailable
 */
export async function hashNewPassword(
  { passwords }: Pick<Deps, 'passwords'>,
  { password, userName, field }: NewPassword,
): Promise<string> {
  if (isUserName(password, userName)) throw apiError('err.passwordIsUserName', { extra: field })
  if (await isLeaked(password)) throw apiError('err.passwordLeaked', { extra: field })
  return passwords.hashPassword(password)
}

/** Whether a password is on the list of leaked ones. */
export async function isLeaked(password: string): Promise<boolean> {
  return (await leakedPasswords()).has(password)
}

/** The name as it is typed at sign-in, or what stands before its @. */
function isUserName(password: string, userName: string): boolean {
  const [name, key] = [toPasswordKey(userName), toPasswordKey(password).trim()]
  return key === name || key === name.split('@')[0]
}
