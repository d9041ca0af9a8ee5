import type { Kysely } from 'kysely'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import type { EndReason, RightsScope } from '../entries/rights.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newToken } from '../platform/random.ts'
import {
  findEffectiveSessionLimit,
  findOwnedSession,
  findSessionOfToken,
  listLeftBehind,
  listSessionsBegunBefore,
  type OwnedSession,
  readDatabaseTime,
} from './session.query.ts'
import {
  type EndedSession,
  endOtherSessionRows,
  endSessionRows,
  insertSession,
  listSurplusSessionIds,
  markExtended,
  shortenSessions,
} from './session.store.ts'

type SessionDeps = Pick<Deps, 'db' | 'rights'>

/** Where a sign-in came from. */
export type SignInClient = {
  /** The client's address as the proxy rules decided it. */
  address: string
  /** The peer that sent forwarding headers without being trusted: such a session gets no grant. */
  untrustedProxy: string | null
  userAgent: string | null
  /** The browser's device cookies: an account that signed in completely here before is known (decision 33). */
  deviceTokens: { user: string | undefined; admin: string | undefined }
}

/** A session as its new owner gets it; the token is kept nowhere else. */
export type CreatedSession = {
  id: string
  userId: string
  token: string
  secondsLeft: number
  endsAt: Date
  /** The session that this one goes on from; still open, see `endExtendedSession`. */
  extendedId: string | null
}

/** What makes a session. */
export type SessionRequest = {
  userId: string
  kind: 'portal' | 'machine'
  kiosk: boolean
  /** Longest life in minutes, null = the user's session minutes alone. */
  atMostMinutes: number | null
  client: SignInClient
  /** What the identity provider calls this sign-in, so that it can end it. */
  identitySession?: string | null
  /** The API key that a machine signed in with. */
  apiKeyId?: string | null
  /**
   * Token of the session that this browser or machine had: it ends with the new one's beginning. A session of the
   * same user is extended instead: it stays until the new one holds its doors.
   */
  replaces?: string | undefined
  /** Runs under the user's lock: throws when the account changed since its proof, writes what goes with a sign-in. */
  act: (tx: Kysely<DB>) => Promise<void>
}

/** How long the second step may take, in minutes. Specification README "Second factor, sessions". */
export const halfSessionMinutes = 5

/** Sessions ended in one transaction when all are. */
const endedAtOnce = 100

/**
 * Signs a user in: a session with a new token, ending at the earliest of session minutes, `atMostMinutes` and
 * ValidUntil. Beyond the session limit the oldest session ends in the same transaction. Which addresses the session
 * holds is not said here: that is decided where addresses are granted.
 */
export async function createUserSession(
  { db, rights }: SessionDeps,
  request: SessionRequest,
): Promise<CreatedSession> {
  const { userId, client } = request
  const token = newToken()
  const found = await findReplaced(db.grants, request)
  const extendedId = found.find((old) => isExtended(old, request))?.id ?? null
  const replaced = found.filter(({ id }) => id !== extendedId)
  const scope = toScope(replaced, [userId])
  const session = await rights.change(scope, replaced.length > 0 ? 'logout' : 'sessionLimit', async (tx) => {
    await request.act(tx)
    await endSessions(tx, scope.sessions, 'logout')
    await endSurplus(tx, { userId, except: extendedId })
    if (extendedId !== null) await markExtended(tx, extendedId)
    return insertSession(tx, { ...request, ...client, stage: 'complete', tokenHash: hashToken(token) })
  })
  return { ...session, userId, token, extendedId }
}

/** Somebody who signs in again before the end goes on; on a public computer nothing is extended. */
const isExtended = (
  old: { userId: string; stage: string; kiosk: boolean },
  { userId, kiosk }: Pick<SessionRequest, 'userId' | 'kiosk'>,
): boolean => old.userId === userId && old.stage === 'complete' && !old.kiosk && !kiosk

/** Ends the session that a new one goes on from, once the new one holds what it held: no door closes in between. */
export async function endExtendedSession(
  { rights }: Pick<Deps, 'rights'>,
  { userId, extendedId }: Pick<CreatedSession, 'userId' | 'extendedId'>,
): Promise<void> {
  if (extendedId === null) return
  await rights.change(toScope([{ id: extendedId, userId }], []), 'sessionExtended', async (tx) =>
    endSessions(tx, [extendedId], 'sessionExtended'),
  )
}

/** A sign-in takes less; who still has a session that was extended longer ago died over it. */
const leftBehindSeconds = 15

/**
 * Ends extended sessions that nobody ended, because the process died between the new session and the end of the old
 * one: their owners' browsers have another cookie, so nobody could sign them out. Run every few seconds.
 *
 * @returns whether there may be more.
 */
export async function endLeftBehind(
  db: Kysely<DB>,
  { rights }: Pick<Deps, 'rights'>,
  seconds: number = leftBehindSeconds,
): Promise<boolean> {
  const sessions = await listLeftBehind(db, { seconds, limit: endedAtOnce })
  for (const { id, userId } of sessions) await endExtendedSession({ rights }, { userId, extendedId: id })
  return sessions.length >= endedAtOnce
}

/** The same after a right password alone: 5 minutes, for the second step and logout only. */
export async function createHalfSession(
  { db, rights }: SessionDeps,
  request: Omit<SessionRequest, 'atMostMinutes' | 'kind' | 'identitySession'>,
): Promise<CreatedSession> {
  const { userId, client } = request
  const token = newToken()
  const replaced = await findReplaced(db.grants, { kind: 'portal', replaces: request.replaces })
  const scope = toScope(replaced, [userId])
  const session = await rights.change(scope, 'logout', async (tx) => {
    await request.act(tx)
    await endSessions(tx, scope.sessions, 'logout')
    return insertSession(tx, {
      ...request,
      ...client,
      kind: 'portal',
      stage: 'half',
      atMostMinutes: halfSessionMinutes,
      tokenHash: hashToken(token),
    })
  })
  return { ...session, userId, token, extendedId: null }
}

/** Ends one session, half or complete. A session that ended meanwhile stays as it is. */
export async function endSession(
  { rights }: Pick<Deps, 'rights'>,
  session: OwnedSession,
  reason: EndReason,
  act: (tx: Kysely<DB>, ended: EndedSession) => Promise<void>,
): Promise<void> {
  await rights.change(toScope([session], []), reason, async (tx) => {
    for (const ended of await endSessionRows(tx, [session.id], reason)) await act(tx, ended)
  })
}

/**
 * Ends a user's session for an administrator.
 *
 * @throws err.notFound when there is no such session or it has ended.
 */
export async function endSessionById(
  deps: SessionDeps,
  { id, adminName }: { id: string; adminName: string },
): Promise<void> {
  const session = await findOwnedSession(deps.db.grants, id)
  if (session === undefined) throw apiError('err.notFound')
  await endSession(deps, session, 'sessionEnded', (tx, ended) =>
    auditEnded(tx, [ended], 'sessionEnded', adminName),
  )
}

/** Ends every session of every user that had begun when it was asked for, a hundred in a transaction. */
export async function endAllSessions({ db, rights }: SessionDeps, adminName: string): Promise<number> {
  const before = await readDatabaseTime(db.grants)
  for (let count = 0; ; ) {
    const sessions = await listSessionsBegunBefore(db.grants, before, endedAtOnce)
    if (sessions.length === 0) return count
    const ended = await rights.change(toScope(sessions, []), 'sessionEnded', async (tx) => {
      const ids = sessions.map(({ id }) => id)
      const rows = await endSessionRows(tx, ids, 'sessionEnded')
      await auditEnded(tx, rows, 'sessionEnded', adminName)
      return rows.length
    })
    count += ended
  }
}

/** Ends a user's other sessions in the transaction of a change to the account; within `rights.change` of that user. */
export async function endOtherSessions(
  tx: Kysely<DB>,
  whose: { userId: string; except?: string; adminName?: string },
  reason: EndReason,
): Promise<void> {
  await auditEnded(tx, await endOtherSessionRows(tx, whose, reason), reason, whose.adminName)
}

/**
 * ValidUntil came nearer, or the user's session minutes became fewer: sessions and standing grants end no later than a
 * sign-in at the session's beginning would now. Within `rights.change` of that user; what is longer moves no end.
 */
export async function shortenUserSessions(
  tx: Kysely<DB>,
  user: { userId: string; validUntil: Date | null; minutes: number | null },
): Promise<void> {
  if (user.validUntil !== null || user.minutes !== null) await shortenSessions(tx, user)
}

async function findReplaced(
  db: Kysely<DB>,
  { kind, replaces }: Pick<SessionRequest, 'kind' | 'replaces'>,
): Promise<NonNullable<Awaited<ReturnType<typeof findSessionOfToken>>>[]> {
  const found = replaces === undefined ? undefined : await findSessionOfToken(db, hashToken(replaces))
  return found?.kind === kind ? [found] : []
}

function toScope(
  sessions: readonly OwnedSession[],
  users: readonly string[],
): Required<Pick<RightsScope, 'sessions' | 'users'>> {
  return {
    sessions: sessions.map(({ id }) => id),
    users: [...new Set([...users, ...sessions.map(({ userId }) => userId)])],
  }
}

async function endSurplus(
  tx: Kysely<DB>,
  { userId, except }: { userId: string; except: string | null },
): Promise<void> {
  const limit = await findEffectiveSessionLimit(tx, userId)
  if (limit === null) return
  const surplus = await listSurplusSessionIds(tx, { userId, keep: limit - 1, except })
  await endSessions(tx, surplus, 'sessionLimit')
}

async function endSessions(tx: Kysely<DB>, ids: readonly string[], reason: EndReason): Promise<void> {
  await auditEnded(tx, await endSessionRows(tx, ids, reason), reason)
}

async function auditEnded(
  tx: Kysely<DB>,
  ended: readonly EndedSession[],
  reason: EndReason,
  adminName?: string,
): Promise<void> {
  await writeAudit(
    tx,
    ended.map(({ id, userName }) => ({
      kind: 'SessionEnded',
      fields: { UserName: userName, ...(adminName !== undefined && { AdminName: adminName }) },
      detail: { sessionId: id, reason },
    })),
  )
}
