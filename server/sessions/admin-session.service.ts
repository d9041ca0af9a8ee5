import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newToken } from '../platform/random.ts'
import {
  type EndedAdminSession,
  endAdminSessionOfToken,
  endAdminSessionRow,
  endAllAdminSessionRows,
  endOtherAdminSessionRows,
  findLiveAdminSession,
  insertAdminSession,
} from './admin-session.store.ts'
import { halfSessionMinutes, type SignInClient } from './session.service.ts'

/** An administrator's session lasts a working day, in minutes. */
const adminSessionMinutes = 480

/** Whether a browser's admin cookie is that of a live session, complete or half. */
export async function hasAdminSession(db: Kysely<DB>, token: string | undefined): Promise<boolean> {
  return token !== undefined && (await findLiveAdminSession(db, hashToken(token))) !== undefined
}

/** Makes an admin session with a new token and ends the one the browser had; within the sign-in's transaction. */
export async function createAdminSession(
  tx: Kysely<DB>,
  request: {
    adminId: string
    stage: 'half' | 'complete'
    client: SignInClient
    replaces?: string | undefined
    identitySession?: string | null
  },
): Promise<{ id: string; token: string; secondsLeft: number }> {
  const { adminId, stage, client } = request
  const token = newToken()
  if (request.replaces !== undefined) await endAdminSessionOfToken(tx, hashToken(request.replaces), 'logout')
  const minutes = stage === 'half' ? halfSessionMinutes : adminSessionMinutes
  const session = await insertAdminSession(tx, {
    adminId,
    stage,
    minutes,
    address: client.address,
    userAgent: client.userAgent,
    identitySession: request.identitySession ?? null,
    tokenHash: hashToken(token),
  })
  return { ...session, token }
}

/** Ends one admin session; false when it had ended already. The caller tells the audit log. */
export async function endAdminSession(tx: Kysely<DB>, id: string, reason: string): Promise<boolean> {
  return (await endAdminSessionRow(tx, id, reason)).length > 0
}

/**
 * Ends an administrator's session for an administrator, be it his own.
 *
 * @throws err.notFound when there is no such session or it has ended.
 */
export async function endAdminSessionById(
  { db }: Pick<Deps, 'db'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    const ended = await endAdminSessionRow(tx, id, 'sessionEnded')
    if (ended.length === 0) throw apiError('err.notFound')
    await auditEnded(tx, ended, { reason: 'sessionEnded', by, requestId })
  })
}

/** Ends every session of every administrator, the one that asks as well. */
export async function endAllAdminSessions(
  { db }: Pick<Deps, 'db'>,
  { by, requestId }: Acting,
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    const ended = await endAllAdminSessionRows(tx, 'sessionEnded')
    await auditEnded(tx, ended, { reason: 'sessionEnded', by, requestId })
  })
}

/** Ends an administrator's other sessions, or all of them, in the transaction of a change to the account. */
export async function endOtherAdminSessions(
  tx: Kysely<DB>,
  { by, requestId = null, ...whose }: { adminId: string; except?: string } & Partial<Acting>,
): Promise<void> {
  const ended = await endOtherAdminSessionRows(tx, whose, 'adminChanged')
  await auditEnded(tx, ended, { reason: 'adminChanged', by, requestId })
}

/** UserName is whose session it was, AdminName who ended it. */
async function auditEnded(
  tx: Kysely<DB>,
  ended: readonly EndedAdminSession[],
  { reason, by, requestId }: { reason: string; by: string | undefined; requestId: string | null },
): Promise<void> {
  await writeAudit(
    tx,
    ended.map(({ id, userName }) => ({
      kind: 'SessionEnded',
      fields: { UserName: userName, ...(by !== undefined && { AdminName: by }) },
      detail: { realm: 'admin', sessionId: id, reason },
    })),
    requestId,
  )
}
