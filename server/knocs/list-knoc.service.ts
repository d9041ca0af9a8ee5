import type { Kysely } from 'kysely'
import type { AclFields } from '../acls/acl.schema.ts'
import { lockAcl } from '../acls/acl.service.ts'
import { toAllowlistSettings, toListUrl } from '../allowlists/allowlist-settings.ts'
import type { ListKeyRequest } from '../api-keys/api-key.schema.ts'
import { createListKey, moveListKey } from '../api-keys/list-key.service.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { readConfig } from '../backends/backend-change.ts'
import { isPassiveType } from '../backends/definitions/index.ts'
import { apiError } from '../errors.ts'
import type { Config } from '../platform/config.ts'
import type { DB } from '../platform/database.types.ts'
import { readPublicUrl } from '../settings/auth-setting.query.ts'
import type { KnocRequest } from './knoc.schema.ts'

/**
 * Refuses a key for a knoc that has no list to read, and one that is named beside ApiKey.
 *
 * @throws err.invalidField
 */
export function checkListKey({ Backend, ACL, ApiKey }: KnocRequest): void {
  const isKeyed = ApiKey !== undefined && ApiKey.Option !== 'none'
  if (!isPassiveType(readConfig(Backend.Config).type)) {
    if (isKeyed) throw apiError('err.invalidField', { extra: 'ApiKey' })
    return
  }
  const { type, settings } = readConfig(ACL.Config)
  const named = (settings as { ApiKeyId?: unknown } | null | undefined)?.ApiKeyId
  if (typeof named === 'string') throw apiError('err.invalidField', { extra: `ACL.Config.${type}.ApiKeyId` })
}

/** The key of a list that is made; its plaintext when it is new. */
export type ListKey = { id?: string; plaintext?: string }

/** The key's step of a creation: a new key, which is told once, or the one that was chosen. Its scope names the ACL to be. */
export async function makeListKey(
  tx: Kysely<DB>,
  { request, ...parts }: Acting & { aclId: string; request: ListKeyRequest | undefined },
): Promise<ListKey> {
  if (request?.Option === 'existing') {
    await moveListKey(tx, { ...parts, from: null, to: request.ID, path: ['ApiKey', 'ID'] })
    return { id: request.ID }
  }
  if (request?.Option !== 'new') return {}
  const { Option: _, ...key } = request
  return createListKey(tx, { ...parts, key })
}

/** An ACL's fields with the key of its list. */
export function withListKey(fields: AclFields, keyId: string): AclFields {
  const { type, settings } = readConfig(fields.Config)
  return { ...fields, Config: { [type]: { ...(settings as object), ApiKeyId: keyId } } }
}

/** Where a knoc's list is read; undefined for one without. */
export async function findListUrl(
  tx: Kysely<DB>,
  {
    aclId,
    backend,
    config,
  }: { aclId: string; backend: KnocRequest['Backend']; config: Pick<Config, 'publicUrl'> },
): Promise<string | undefined> {
  if (!isPassiveType(readConfig(backend.Config).type)) return undefined
  const { Token } = toAllowlistSettings((await lockAcl(tx, aclId)).config)
  return toListUrl(await readPublicUrl(tx, config), aclId, Token)
}
