import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import type { NewApiKeyRequest } from './api-key.schema.ts'
import { useApiKey } from './api-key.store.ts'
import { createKey } from './new-key.service.ts'

/**
 * Makes the key that an apikey user signs in with, in the transaction that makes the user; see {@link createKey}.
 *
 * @returns the key itself
 */
export async function createUserKey(
  tx: Kysely<DB>,
  { userId, ...parts }: Acting & { userId: string; userName: string; key: NewApiKeyRequest },
): Promise<string> {
  const scopes = [`user.auth:${userId}`]
  return (await createKey(tx, { ...parts, userId, purpose: 'user_auth', scopes })).plaintext
}

/** Notes that a key is used; refuses one that was deleted or ran out since it was judged, with err.invalidApiKey. */
export const recordKeyUse =
  (id: string) =>
  async (tx: Kysely<DB>): Promise<void> => {
    if (!(await useApiKey(tx, id))) throw apiError('err.invalidApiKey', { detail: 'withdrawn meanwhile' })
  }
