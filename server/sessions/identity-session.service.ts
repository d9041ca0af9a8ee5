import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { endAdminSessionRow } from './admin-session.store.ts'
import {
  type IdentitySession,
  type IdentitySessionNames,
  listIdentitySessions,
} from './identity-session.query.ts'
import { endSessionRows } from './session.store.ts'
import type { Realm } from './session-cookie.ts'

/**
 * Ends the sessions that an OpenID provider says are over, with everything they granted.
 *
 * @param act runs first in the same transaction; what it throws leaves every session as it is.
 * @returns how many ended.
 */
export async function endSessionsOfIdentity(
  deps: Pick<Deps, 'db' | 'rights'>,
  { realm, ...names }: { realm: Realm } & IdentitySessionNames,
  act: (tx: Kysely<DB>) => Promise<void>,
): Promise<number> {
  if (realm === 'admin')
    return inTransaction(deps.db.grants, async (tx) => {
      await act(tx)
      return endAdmins(tx, await listIdentitySessions(tx, realm, names))
    })
  const seen = await listIdentitySessions(deps.db.grants, realm, names)
  const scope = {
    users: [...new Set(seen.map(({ ownerId }) => ownerId))],
    sessions: seen.map(({ id }) => id),
  }
  return deps.rights.change(scope, 'sessionEnded', async (tx) => {
    await act(tx)
    return endUsers(tx, seen)
  })
}

async function endUsers(tx: Kysely<DB>, sessions: readonly IdentitySession[]): Promise<number> {
  const ids = sessions.map(({ id }) => id)
  const ended = await endSessionRows(tx, ids, 'sessionEnded')
  await writeAudit(
    tx,
    ended.map(({ id, userName }) => ({
      kind: 'SessionEnded',
      fields: { UserName: userName },
      detail: detailOf(id),
    })),
  )
  return ended.length
}

async function endAdmins(tx: Kysely<DB>, sessions: readonly IdentitySession[]): Promise<number> {
  const ended: IdentitySession[] = []
  for (const session of sessions)
    if (await endAdminSessionRow(tx, session.id, 'sessionEnded')) ended.push(session)
  await writeAudit(
    tx,
    ended.map(({ id, userName }) => ({
      kind: 'SessionEnded',
      fields: { AdminName: userName },
      detail: detailOf(id),
    })),
  )
  return ended.length
}

const detailOf = (sessionId: string) => ({ sessionId, reason: 'sessionEnded', by: 'identityProvider' })
