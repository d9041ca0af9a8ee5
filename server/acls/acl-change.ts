import type { Kysely } from 'kysely'
import type { AgentFacts } from '../agents/agent-facts.query.ts'
import { completeListSettings } from '../allowlists/allowlist-settings.ts'
import { moveListKey } from '../api-keys/list-key.service.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { type Backend, noteCredentials } from '../backends/backend.service.ts'
import { readConfig, sealForBackend } from '../backends/backend-change.ts'
import { getDefinition } from '../backends/find-definition.ts'
import { keepListSecrets } from '../backends/kept-secrets.ts'
import { readListSettings, type StoredList } from '../backends/list-settings.ts'
import { sealFields } from '../backends/seal.ts'
import type { Sealed } from '../backends/sealing.schema.ts'
import { retarget } from '../backends/target.service.ts'
import { apiError } from '../errors.ts'
import { shortenKnocGrants } from '../grants/shorten.service.ts'
import type { DB } from '../platform/database.types.ts'
import type { AclChange, AclFields } from './acl.schema.ts'
import { insertAcl, listChildIds, lockAcl, updateAcl } from './acl.store.ts'
import { type GrantRules, toRanges, toSpecifiedIps } from './acl-addresses.ts'
import type { AclRecord } from './acl-record.query.ts'
import { checkMirrored, takeParent, toChildFields } from './child-acl.ts'

/** What every write of an ACL needs beside the ACL. */
type Surroundings = Acting & {
  /** The backend it hangs on, and its agent; both held by this transaction. */
  backend: Backend
  agent: AgentFacts | null
  /** ACLs whose rights are locked, see `retarget`. */
  scope: readonly string[]
  rules: GrantRules
  /** An administrator knows what a list without a key shows to the whole Internet. */
  confirmsWholeInternet: boolean
  /** Where its fields stand in the request, for Extra. */
  path: readonly string[]
}

/**
 * Makes an ACL with its lists, inside `rights.change`. Below a parent the fields are the parent's, see `toChildFields`.
 * Throws what its settings, `takeParent` and `retarget` throw.
 */
export async function addAcl(
  tx: Kysely<DB>,
  parts: Surroundings & { id: string; parentId: string | null; fields: AclFields },
): Promise<void> {
  const { Config, ID: _, ...own } = parts.fields
  const list = readList(Config, { ...parts, stored: null, isMoved: false })
  const { id, parentId, backend, path } = parts
  const parent = await takeParent(tx, parentId, { id, type: backend.type, config: list.config, path })
  const fields = parent === null ? own : toChildFields(parent.fields)
  const record = { id, parentId, backendId: backend.id, fields, ...list }
  await followListKey(tx, parts, { before: {}, after: list.config })
  await insertAcl(tx, { ...record, ...toWrite(record, parts) })
  await retarget(tx, id, parts.scope)
}

/**
 * Changes an ACL, inside `rights.change`: what is absent stays, and a shorter MaximumGrantDuration shortens what is
 * open. Its children follow. `isMoved` when secrets sealed before can't be read where its entries go now. Answers the
 * ACL as it is then.
 *
 * @throws err.invalidField for another ParentID than it has, and for a child's field that is its parent's to say.
 */
export async function changeAcl(
  tx: Kysely<DB>,
  parts: Surroundings & {
    id: string
    parentId?: string | null | undefined
    change: AclChange
    isMoved: boolean
  },
): Promise<AclRecord> {
  const before = await lockAcl(tx, parts.id)
  const { Config } = parts.change
  const change = definedOf(parts.change)
  const { parentId } = before
  if (parts.parentId !== undefined && parts.parentId !== parentId)
    throw apiError('err.invalidField', { extra: [...parts.path, 'ParentID'].join('.') })
  if (parentId !== null) checkMirrored(before, { change, path: parts.path })
  const stored = { plain: before.config, sealed: before.sealed }
  const list = readList(Config ?? { [parts.backend.type]: before.config }, {
    ...parts,
    stored,
    isMoved: parts.isMoved || before.backendId !== parts.backend.id,
  })
  const fields = { ...before.fields, ...change }
  const record = { id: parts.id, parentId, backendId: parts.backend.id, fields, ...list }
  await followListKey(tx, parts, { before: before.config, after: list.config })
  await updateAcl(tx, { ...record, ...toWrite(record, parts) })
  await mirrorToChildren(tx, record, parts)
  await shortenKnocGrants(tx, parts.id, {
    before: before.fields.MaximumGrantDuration,
    after: fields.MaximumGrantDuration,
  })
  await retarget(tx, parts.id, parts.scope)
  await noteCredentials(tx, [...new Set([before.backendId, parts.backend.id])])
  return record
}

async function mirrorToChildren(tx: Kysely<DB>, parent: AclRecord, parts: Surroundings): Promise<void> {
  for (const id of await listChildIds(tx, parent.id)) {
    const child = { ...(await lockAcl(tx, id)), fields: toChildFields(parent.fields) }
    await updateAcl(tx, { ...child, ...toWrite(child, parts) })
  }
}

const toWrite = ({ fields }: Pick<AclRecord, 'fields'>, { rules, path, by }: Surroundings) => ({
  ranges: toRanges(fields.IpExclusions.Ranges, path),
  specifiedIps: toSpecifiedIps(fields.GrantType.Ips, { rules, path }),
  by,
})

/** The list's settings with their secrets sealed; the type must be the backend's. */
function readList(
  config: Readonly<Record<string, unknown>>,
  parts: Surroundings & { stored: StoredList | null; isMoved: boolean },
): { config: Record<string, unknown>; sealed: Sealed } {
  const { backend, agent, stored, isMoved } = parts
  const path = [...parts.path, 'Config']
  const { type, settings } = readConfig(config)
  if (type !== backend.type || Object.keys(config).length !== 1)
    throw apiError('err.invalidField', { extra: path.join('.') })
  const list = readListSettings({
    definition: getDefinition(type),
    settings: completeListSettings({
      type,
      settings,
      stored: stored?.plain ?? null,
      confirmsWholeInternet: parts.confirmsWholeInternet,
      path: [...path, type],
    }),
    backend: backend.config,
    stored,
    path: [...path, type],
  })
  const kept = keepListSecrets(stored?.sealed ?? {}, { keep: list.keep, isMoved })
  return {
    config: list.plain,
    sealed: { ...kept, ...sealFields(list.toSeal, sealForBackend(backend, agent)) },
  }
}

/** A passive list's key has to be there, and may read it from now on. */
async function followListKey(
  tx: Kysely<DB>,
  { id, backend, path, by, requestId }: Surroundings & { id: string },
  { before, after }: Record<'before' | 'after', Record<string, unknown>>,
): Promise<void> {
  if (backend.type !== 'allowlist') return
  const keyOf = ({ ApiKeyId }: Record<string, unknown>) => (typeof ApiKeyId === 'string' ? ApiKeyId : null)
  await moveListKey(tx, {
    ...{ aclId: id, from: keyOf(before), to: keyOf(after), by, requestId },
    path: [...path, 'Config', backend.type, 'ApiKeyId'],
  })
}

/** The fields that a change names. */
const definedOf = (change: AclChange): Partial<AclRecord['fields']> =>
  Object.fromEntries(
    Object.entries(change).filter(
      ([name, value]) => value !== undefined && name !== 'ID' && name !== 'Config',
    ),
  )
