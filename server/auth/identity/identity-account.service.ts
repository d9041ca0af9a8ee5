import type { Kysely } from 'kysely'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { createIdentityUser, usualSessionMinutes } from '../../users/identity-user.service.ts'
import {
  bindSubject,
  findAccountOfSubject,
  findAdminAccount,
  findUserAccount,
  findUserAccountById,
} from '../account.store.ts'
import type { Account, IdentityClaims } from './identity.ts'

/** Who an identity provider says somebody is. */
export type Identity = {
  authType: 'SAML' | 'OIDC'
  userName: string
  /** OIDC: `issuer subject`, which outlasts a change of the name. SAML has the name alone. */
  subject?: string
  claims: IdentityClaims
}

/**
 * The user an identity provider means; made at the first sign-in. A name that belongs to an account of another
 * AuthType, or to another subject of the provider, is refused: one name, one person.
 *
 * @throws err.loginNotPermitted, err.userLimitReached
 */
export async function findOrCreateUser(
  deps: Pick<Deps, 'db'>,
  identity: Identity,
  requestId: string | null,
): Promise<Account> {
  const db = deps.db.grants
  const found = await findAccount(db, 'user', identity)
  if (found !== undefined) return found
  const { authType, userName, subject, claims } = identity
  if (!isUsableName(userName)) throw apiError('err.loginNotPermitted', { detail: 'not a usable user name' })
  const id = await createIdentityUser(
    deps,
    {
      authType,
      userName,
      name: claims.realName ?? userName,
      thirdPartyAuth: subject ?? null,
      sessionMinutes: claims.sessionMinutes ?? usualSessionMinutes,
    },
    requestId,
  )
  // Not made: another request of the same person was quicker.
  const made = id === undefined ? await findAccount(db, 'user', identity) : await findUserAccountById(db, id)
  if (made === undefined) throw apiError('err.loginNotPermitted', { detail: 'the user is gone again' })
  return made
}

/**
 * The administrator an identity provider means. Administrators are never made by a sign-in.
 *
 * @throws err.loginNotPermitted
 */
export async function findIdentityAdmin({ db }: Pick<Deps, 'db'>, identity: Identity): Promise<Account> {
  const account = await findAccount(db.grants, 'admin', identity)
  if (account === undefined) throw apiError('err.loginNotPermitted', { detail: 'no such administrator' })
  return account
}

async function findAccount(
  db: Kysely<DB>,
  realm: Realm,
  { authType, userName, subject }: Identity,
): Promise<Account | undefined> {
  const known = subject === undefined ? undefined : await findAccountOfSubject(db, realm, subject)
  if (known !== undefined) return known
  const account = await (realm === 'user' ? findUserAccount : findAdminAccount)(db, userName)
  if (account === undefined) return undefined
  if (account.authType !== authType)
    throw apiError('err.loginNotPermitted', {
      detail: `the name is an account of AuthType ${account.authType}`,
    })
  if (subject === undefined) return account
  if (account.thirdPartyAuth !== null || !(await bindSubject(db, account, subject)))
    throw apiError('err.loginNotPermitted', { detail: 'the name belongs to another subject of the provider' })
  return { ...account, thirdPartyAuth: subject }
}

const isUsableName = (name: string): boolean => /^\P{C}{1,256}$/u.test(name) && name.trim() === name
