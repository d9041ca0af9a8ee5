import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newToken } from '../platform/random.ts'
import { readDatabaseTime } from '../sessions/session.query.ts'
import type { NewApiKeyRequest } from './api-key.schema.ts'
import { insertApiKey, useApiKey } from './api-key.store.ts'

/**
 * Makes the key that an apikey user signs in with, in the transaction that makes the user.
 *
 * @returns the key itself, 256 random bits; it is told once and kept nowhere.
 * @throws err.apiKeyNameTaken, err.invalidField (ApiKey.ExpiredAfter) for an end that has passed
 */
export async function createUserKey(
  tx: Kysely<DB>,
  {
    userId,
    userName,
    key,
    by,
    requestId,
  }: Acting & { userId: string; userName: string; key: NewApiKeyRequest },
): Promise<string> {
  const expiredAfter = key.ExpiredAfter ? new Date(key.ExpiredAfter) : null
  if (expiredAfter !== null && expiredAfter <= (await readDatabaseTime(tx)))
    throw apiError('err.invalidField', { extra: 'ApiKey.ExpiredAfter' })
  const plaintext = newToken()
  const id = await insertApiKey(tx, {
    name: key.Name,
    purpose: 'user_auth',
    keyHash: hashToken(plaintext),
    scopes: [`user.auth:${userId}`],
    allowedFrom: key.AllowedFrom,
    userId,
    expiredAfter,
  })
  if (id === undefined) throw apiError('err.apiKeyNameTaken')
  const fields = { UserName: userName, AdminName: by, Description: key.Name }
  const detail = { keyId: id, purpose: 'user_auth', userId, expiredAfter }
  await writeAudit(tx, [{ kind: 'CreateApiKey', fields, detail }], requestId)
  return plaintext
}

/** Notes a sign-in by a key; refuses one that was deleted or ran out since it was judged, with err.invalidApiKey. */
export const recordKeyUse =
  (id: string) =>
  async (tx: Kysely<DB>): Promise<void> => {
    if (!(await useApiKey(tx, id))) throw apiError('err.invalidApiKey', { detail: 'withdrawn meanwhile' })
  }
