import type { Kysely } from 'kysely'
import { nextSignInStep, type SignInStep } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import type { DB } from '../platform/database.types.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import {
  type CreatedSession,
  createHalfSession,
  createUserSession,
  endExtendedSession,
} from '../sessions/session.service.ts'
import { readSettings } from '../settings/setting.query.ts'
import { findUserAccountById } from './account.store.ts'
import type { Arrival } from './arrival.ts'
import { applyUserClaims } from './claims.store.ts'
import { checkUnchanged } from './credentials.service.ts'
import type { Proven } from './identity/identity.ts'
import { rememberDevice } from './known-device.service.ts'

/** Runs after a complete sign-in is committed, before it is answered: grants what is granted by signing in. */
export type SignInHook = (session: SignedInSession) => Promise<void>

/**
 * A session just made, and where its browser was seen: the first look at its address. `extendedId` is the session it
 * goes on from, whose clicks it takes over.
 */
type SignedInSession = {
  id: string
  userId: string
  userName: string
  client: ClientAddress
  extendedId: string | null
}

/** What admitting a user needs. */
export type UserAdmissionDeps = Pick<Deps, 'db' | 'rights' | 'log'> & {
  /** Its failure is logged and fails nothing: the portal's next re-validation grants what is missing. */
  afterSignIn?: SignInHook
}

/** A session just made; `deviceToken` is for the browser's device cookie, null where it gets none. */
export type Admitted<Session> = Session & { deviceToken: string | null }

/** How far a sign-in came, and its session: half until the second step, complete after. */
export type Admission<Session> = { step: SignInStep; session: Admitted<Session> }

/**
 * Lets somebody in whose identity is proven, by whatever source: judges the account, asks for the second factor,
 * makes the session, applies claims, grants what signing in grants. The one place where users' sessions begin.
 *
 * @throws err.accountDisabled, err.invalidCredentials (the account changed since the proof)
 */
export async function admitUser(
  deps: UserAdmissionDeps,
  proven: Proven,
  arrival: Arrival,
): Promise<Admission<CreatedSession>> {
  const step = proven.isComplete ? 'signedIn' : nextSignInStep(proven.account)
  const session = await (step === 'signedIn' ? complete : half)(deps, proven, arrival)
  return { step, session }
}

async function complete(
  deps: UserAdmissionDeps,
  { account, claims, identitySession, secondStep, key }: Proven,
  { kiosk, client, seen, replaces, requestId }: Arrival,
): Promise<Admitted<CreatedSession>> {
  let deviceToken: string | null = null
  const atMostMinutes = kiosk ? (await readSettings(deps.db.grants)).KioskSessionDuration : null
  const session = await createUserSession(deps, {
    userId: account.id,
    kind: key === undefined ? 'portal' : 'machine',
    kiosk,
    atMostMinutes,
    client,
    replaces,
    identitySession: identitySession ?? null,
    apiKeyId: key?.id ?? null,
    act: async (tx) => {
      const current = checkUnchanged(account, await findUserAccountById(tx, account.id))
      await secondStep?.(tx, current)
      await key?.use(tx)
      if (!kiosk && key === undefined)
        deviceToken = await rememberDevice(tx, account, client.deviceTokens.user)
      const groups = claims && (await applyUserClaims(tx, account, claims))
      const detail = (key && { apiKeyId: key.id, apiKey: key.name }) ?? (groups && { ...groups })
      await writeAudit(
        tx,
        [
          {
            kind: 'LoginUser',
            fields: { UserName: account.userName, IpAddress: client.address },
            ...(detail && { detail }),
          },
        ],
        requestId,
      )
    },
  })
  await deps
    .afterSignIn?.({
      id: session.id,
      userId: account.id,
      userName: account.userName,
      client: seen,
      extendedId: session.extendedId,
    })
    .catch((error: unknown) =>
      deps.log.warn({ err: error, sessionId: session.id }, 'nothing was granted by a sign-in'),
    )
  await endExtendedSession(deps, session)
  return { ...session, deviceToken }
}

async function half(
  deps: UserAdmissionDeps,
  { account, claims }: Proven,
  { kiosk, client, replaces }: Arrival,
): Promise<Admitted<CreatedSession>> {
  const session = await createHalfSession(deps, {
    userId: account.id,
    kiosk,
    client,
    replaces,
    act: async (tx: Kysely<DB>) => {
      checkUnchanged(account, await findUserAccountById(tx, account.id))
      if (claims !== undefined) await applyUserClaims(tx, account, claims)
    },
  })
  return { ...session, deviceToken: null }
}
