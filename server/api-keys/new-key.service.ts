import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newToken } from '../platform/random.ts'
import { readDatabaseTime } from '../sessions/session.query.ts'
import type { NewApiKeyRequest } from './api-key.schema.ts'
import { insertApiKey } from './api-key.store.ts'

/**
 * Makes a key, in the transaction of what it is for.
 *
 * @returns its id and the key itself, 256 random bits; it is told once and kept nowhere.
 * @throws err.apiKeyNameTaken, err.invalidField (ApiKey.ExpiredAfter) for an end that has passed
 */
export async function createKey(
  tx: Kysely<DB>,
  parts: Acting & {
    key: NewApiKeyRequest
    purpose: string
    scopes: string[]
    userId: string | null
    userName?: string
  },
): Promise<{ id: string; plaintext: string }> {
  const { key, purpose, scopes, userId, userName, by, requestId } = parts
  const expiredAfter = key.ExpiredAfter ? new Date(key.ExpiredAfter) : null
  if (expiredAfter !== null && expiredAfter <= (await readDatabaseTime(tx)))
    throw apiError('err.invalidField', { extra: 'ApiKey.ExpiredAfter' })
  const plaintext = newToken()
  const row = { name: key.Name, purpose, scopes, allowedFrom: key.AllowedFrom, userId, expiredAfter }
  const id = await insertApiKey(tx, { ...row, keyHash: hashToken(plaintext) })
  if (id === undefined) throw apiError('err.apiKeyNameTaken')
  const fields = {
    ...(userName !== undefined && { UserName: userName }),
    AdminName: by,
    Description: key.Name,
  }
  const detail = { keyId: id, purpose, ...(userId === null ? { scopes } : { userId }), expiredAfter }
  await writeAudit(tx, [{ kind: 'CreateApiKey', fields, detail }], requestId)
  return { id, plaintext }
}
