import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import type { NewApiKeyRequest } from './api-key.schema.ts'
import { addScope, lockListKey, removeScope } from './api-key.store.ts'
import { createKey } from './new-key.service.ts'

/** What a key has to be allowed to read a passive list. Specification README "Key before ACL". */
export const listScope = (aclId: string): string => `allowlists.read:${aclId}`

/** Purpose of a key that reads passive lists. */
export const listPurpose = 'allowlists'

/**
 * Makes a key that reads one list, before the list's ACL is there; see {@link createKey}.
 *
 * @throws err.apiKeyNameTaken, err.invalidField (ApiKey.ExpiredAfter)
 */
export const createListKey = (
  tx: Kysely<DB>,
  { aclId, ...parts }: Acting & { aclId: string; key: NewApiKeyRequest },
): Promise<{ id: string; plaintext: string }> =>
  createKey(tx, { ...parts, purpose: listPurpose, scopes: [listScope(aclId)], userId: null })

/**
 * Lets another key read a list than the one that was named before: the scope goes to it and is taken from the other.
 * The other stays, with what else it may.
 *
 * @throws err.invalidField (Extra: `path`) for a key that isn't there, is of no more use or has another purpose.
 */
export async function moveListKey(
  tx: Kysely<DB>,
  parts: Acting & { aclId: string; from: string | null; to: string | null; path: readonly string[] },
): Promise<void> {
  const { aclId, from, to, path } = parts
  if (to === from) return
  if (from !== null && (await removeScope(tx, from, listScope(aclId)))) await tell(tx, from, parts)
  if (to === null) return
  if (!(await lockListKey(tx, to))) throw apiError('err.invalidField', { extra: path.join('.') })
  if (await addScope(tx, to, listScope(aclId))) await tell(tx, to, parts)
}

async function tell(
  tx: Kysely<DB>,
  keyId: string,
  { aclId, to, by, requestId }: Acting & { aclId: string; to: string | null },
): Promise<void> {
  const change = to === keyId ? { added: listScope(aclId) } : { removed: listScope(aclId) }
  await writeAudit(
    tx,
    [{ kind: 'UpdateApiKey', fields: { AdminName: by }, detail: { keyId, ...change } }],
    requestId,
  )
}
