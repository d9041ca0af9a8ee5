import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import { insertUser } from './user.store.ts'
import { checkUserAllowance } from './user-allowance.service.ts'

/** Session minutes of a user whose identity provider says none, or none that are possible. Console §5. */
export const usualSessionMinutes = 480

/** What an identity provider says of somebody who has never been here. */
export type NewIdentityUser = {
  authType: 'SAML' | 'OIDC'
  userName: string
  name: string
  thirdPartyAuth: string | null
  sessionMinutes: number
}

/**
 * Makes a user at his first sign-in through an identity provider; undefined when the name was taken meanwhile.
 *
 * @throws err.userLimitReached
 */
export async function createIdentityUser(
  { db }: Pick<Deps, 'db'>,
  user: NewIdentityUser,
  requestId: string | null,
): Promise<string | undefined> {
  return inTransaction(db.grants, async (tx) => {
    await checkUserAllowance(tx)
    const id = await insertUser(tx, {
      ...user,
      company: null,
      passwordHash: null,
      loginEnabled: true,
      sessionLimit: null,
      validUntil: null,
      lastModifiedBy: user.authType,
    })
    if (id === undefined) return undefined
    const detail = { userId: id, by: user.authType }
    await writeAudit(tx, [{ kind: 'CreateUser', fields: { UserName: user.userName }, detail }], requestId)
    return id
  })
}
