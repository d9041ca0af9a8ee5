import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.store.ts'
import { newPasswordSchema } from '../auth/auth.schema.ts'
import { hashNewPassword } from '../auth/passwords/new-password.service.ts'
import { resetSecondFactor } from '../auth/second-factor/reset-second-factor.service.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { endOtherAdminSessions } from '../sessions/admin-session.service.ts'
import { resetAdminRow } from './admin.store.ts'

/**
 * Gives a lost administrator a new password from the command line: he is enabled, signs in with a password from now
 * on, and his sessions end. His second factor stays, unless it is lost as well.
 *
 * @throws err.passwordLength, err.passwordLeaked, err.passwordIsUserName, err.notFound
 */
export async function resetAdminPassword(
  { db, passwords }: { db: Kysely<DB> } & Pick<Deps, 'passwords'>,
  {
    userName,
    newPassword,
    withSecondFactor = false,
  }: { userName: string; newPassword: string; withSecondFactor?: boolean },
): Promise<void> {
  if (!newPasswordSchema.safeParse(newPassword).success) throw apiError('err.passwordLength')
  const passwordHash = await hashNewPassword(
    { passwords },
    { password: newPassword, userName, field: 'password' },
  )
  await inTransaction(db, async (tx) => {
    const admin = await resetAdminRow(tx, userName, passwordHash)
    if (admin === undefined) throw apiError('err.notFound', { extra: userName })
    if (withSecondFactor) await resetSecondFactor(tx, { realm: 'admin', id: admin.id })
    await endOtherAdminSessions(tx, { adminId: admin.id })
    const fields = (Description: string) => ({ AdminName: admin.userName, Description })
    await writeAudit(tx, [
      { kind: 'UpdateAdmin', fields: fields('password reset on the command line') },
      ...(withSecondFactor
        ? [{ kind: 'ResetTOTP' as const, fields: fields('second factor reset on the command line') }]
        : []),
    ])
  })
}
