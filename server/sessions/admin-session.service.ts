import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newToken } from '../platform/random.ts'
import {
  endAdminSessionOfToken,
  endAdminSessionRow,
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

/** Ends one admin session; false when it had ended already. */
export async function endAdminSession(tx: Kysely<DB>, id: string, reason: string): Promise<boolean> {
  return endAdminSessionRow(tx, id, reason)
}

/** Ends an administrator's other sessions, or all of them. */
export async function endOtherAdminSessions(
  tx: Kysely<DB>,
  whose: { adminId: string; except?: string },
): Promise<void> {
  await endOtherAdminSessionRows(tx, whose, 'sessionEnded')
}
