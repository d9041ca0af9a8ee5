import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.store.ts'
import { newPasswordSchema } from '../auth/auth.schema.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { endOtherAdminSessions } from '../sessions/admin-session.service.ts'
import { resetAdminRow } from './admin.store.ts'

/**
 * Gives a lost administrator a new password from the command line: he is enabled, signs in with a password from now
 * on, and his sessions end. His second factor stays.
 *
 * @throws err.passwordLength, err.notFound
 */
export async function resetAdminPassword(
  { db, passwords }: { db: Kysely<DB> } & Pick<Deps, 'passwords'>,
  { userName, newPassword }: { userName: string; newPassword: string },
): Promise<void> {
  if (!newPasswordSchema.safeParse(newPassword).success) throw apiError('err.passwordLength')
  const passwordHash = await passwords.hashPassword(newPassword)
  await inTransaction(db, async (tx) => {
    const admin = await resetAdminRow(tx, userName, passwordHash)
    if (admin === undefined) throw apiError('err.notFound', { extra: userName })
    await endOtherAdminSessions(tx, { adminId: admin.id })
    const fields = { AdminName: admin.userName, Description: 'password reset on the command line' }
    await writeAudit(tx, [{ kind: 'UpdateAdmin', fields }])
  })
}
