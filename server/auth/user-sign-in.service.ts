import type { Kysely } from 'kysely'
import { nextSignInStep, type SignInStep } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import type { DB } from '../platform/database.types.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import { hasAdminSession } from '../sessions/admin-session.service.ts'
import {
  type CreatedSession,
  createHalfSession,
  createUserSession,
  type SignInClient,
} from '../sessions/session.service.ts'
import { readSettings } from '../settings/setting.query.ts'
import { findUserAccountById, markUserSignedIn } from './account.store.ts'
import { checkUnchanged, verifyCredentials } from './credentials.service.ts'
import type { Account } from './identity/identity.ts'

/** Runs after a complete sign-in is committed, before it is answered: grants what is granted by signing in. */
export type SignInHook = (session: SignedInSession) => Promise<void>

/** A session just made, and where its browser was seen: the first look at its address. */
type SignedInSession = { id: string; userId: string; userName: string; client: ClientAddress }

/** What signing in needs. */
export type UserSignInDeps = Pick<Deps, 'db' | 'rights' | 'passwords' | 'log'> & {
  /** Its failure is logged and fails nothing: the portal's next re-validation grants what is missing. */
  afterSignIn?: SignInHook
}

/** A sign-in as the browser asks for it. */
export type UserSignIn = {
  userName: string
  password: string
  kiosk: boolean
  client: SignInClient
  /** The same address as the proxy rules found it. */
  seen: ClientAddress
  /** The browser's admin cookie. */
  adminToken: string | undefined
  /** The browser's user cookie so far. */
  replaces: string | undefined
}

/**
 * Signs a user in by name and password, or as far as the second factor. Portal §4 "Login flow".
 *
 * @throws err.invalidCredentials, or err.unauthorised in its place for a browser with an admin session;
 * err.accountDisabled; err.tooManyRequests.
 */
export async function signInUser(
  deps: UserSignInDeps,
  request: UserSignIn,
): Promise<{ step: SignInStep; session: CreatedSession }> {
  const account = await verifyCredentials(deps, { realm: 'user', ...request }, async () =>
    (await hasAdminSession(deps.db.grants, request.adminToken))
      ? 'err.unauthorised'
      : 'err.invalidCredentials',
  )
  const step = nextSignInStep(account)
  const session = await (step === 'signedIn' ? complete : half)(deps, account, request)
  return { step, session }
}

async function complete(
  deps: UserSignInDeps,
  account: Account,
  { kiosk, client, seen, replaces }: UserSignIn,
): Promise<CreatedSession> {
  const { KioskSessionDuration } = await readSettings(deps.db.grants)
  const session = await createUserSession(deps, {
    userId: account.id,
    kind: 'portal',
    kiosk,
    atMostMinutes: kiosk ? KioskSessionDuration : null,
    client,
    replaces,
    act: (tx) => recordSignIn(tx, account, client),
  })
  await deps
    .afterSignIn?.({ id: session.id, userId: account.id, userName: account.userName, client: seen })
    .catch((error: unknown) =>
      deps.log.warn({ err: error, sessionId: session.id }, 'nothing was granted by a sign-in'),
    )
  return session
}

async function half(
  deps: UserSignInDeps,
  account: Account,
  { kiosk, client, replaces }: UserSignIn,
): Promise<CreatedSession> {
  return createHalfSession(deps, {
    userId: account.id,
    kiosk,
    client,
    replaces,
    act: async (tx) => checkUnchanged(account, await findUserAccountById(tx, account.id)),
  })
}

async function recordSignIn(tx: Kysely<DB>, account: Account, client: SignInClient): Promise<void> {
  checkUnchanged(account, await findUserAccountById(tx, account.id))
  await markUserSignedIn(tx, account.id)
  await writeAudit(tx, [
    { kind: 'LoginUser', fields: { UserName: account.userName, IpAddress: client.address } },
  ])
}
