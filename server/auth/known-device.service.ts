import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newToken } from '../platform/random.ts'
import type { Realm } from '../sessions/session-cookie.ts'
import { findKnownDevice, insertKnownDevice, touchKnownDevice } from './known-device.store.ts'

/** The id of a known device: one on which the account with this name signed in completely before (decision 33). */
export async function knownDeviceOf(
  db: Kysely<DB>,
  { realm, userName, token }: { realm: Realm; userName: string; token: string | undefined },
): Promise<string | undefined> {
  return token === undefined
    ? undefined
    : findKnownDevice(db, { realm, userName, tokenHash: hashToken(token) })
}

/**
 * Remembers the device of a complete sign-in, within its transaction.
 *
 * @returns the token for its cookie: the one it has, or a new one when that is none of this account's.
 */
export async function rememberDevice(
  tx: Kysely<DB>,
  account: { realm: Realm; id: string },
  token: string | undefined,
): Promise<string> {
  if (token !== undefined && (await touchKnownDevice(tx, { ...account, tokenHash: hashToken(token) })))
    return token
  const fresh = newToken()
  await insertKnownDevice(tx, { ...account, tokenHash: hashToken(fresh) })
  return fresh
}
