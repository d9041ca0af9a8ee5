import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import { endAdminSession } from '../sessions/admin-session.service.ts'
import { endSession } from '../sessions/session.service.ts'

/** Signs a user out, half signed in or wholly: the session and all it granted end. */
export async function signOutUser(
  deps: Pick<Deps, 'rights'>,
  { id, userId, address }: { id: string; userId: string; address: string },
): Promise<void> {
  await endSession(deps, { id, userId }, 'logout', (tx, { userName }) =>
    writeAudit(tx, [{ kind: 'LogoutUser', fields: { UserName: userName, IpAddress: address } }]),
  )
}

/** Signs an administrator out. */
export async function signOutAdmin(
  { db }: Pick<Deps, 'db'>,
  { sessionId, name, address }: { sessionId: string; name: string; address: string },
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    if (await endAdminSession(tx, sessionId, 'logout'))
      await writeAudit(tx, [{ kind: 'LogoutAdmin', fields: { AdminName: name, IpAddress: address } }])
  })
}
