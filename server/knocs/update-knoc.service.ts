import type { Kysely } from 'kysely'
import { type AclChange, type AclFields } from '../acls/acl.schema.ts'
import { listChildIds, lockAcl } from '../acls/acl.service.ts'
import { changeAcl } from '../acls/acl-change.ts'
import type { Acting } from '../audit/acting-admin.ts'
import type { BackendChange } from '../backends/backend.schema.ts'
import { takeBackend } from '../backends/backend-agent.ts'
import { changeBackend } from '../backends/backend-change.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { checkLicensed } from '../licence/licence.service.ts'
import type { Config } from '../platform/config.ts'
import type { DB } from '../platform/database.types.ts'
import { checkId } from '../platform/http/check-id.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { getKnoc } from './knoc.query.ts'
import type { KnocUpdate } from './knoc.schema.ts'
import { tellKnoc } from './knoc-audit.ts'
import { listTouchedAcls } from './knoc-scope.query.ts'
import { setGroups, setUsers } from './members.store.ts'

/**
 * Changes a knoc in one transaction: backend, ACL, then members as differences. Entries follow to the new lists.
 *
 * A Passive+ knoc is changed by either of its ids. By the parent's, Backend and ACL are the list's, and the child is
 * touched only where Child names it. By the child's, Backend and ACL.Config are the child's; every other field of ACL
 * is written to the parent first, whose own Config stays. Either way the child mirrors its parent's fields, and members
 * are the parent's. Console §4 "update", specification README "Members of a child".
 *
 * @param ifMatch the version it was changed from; null when the caller doesn't say.
 * @returns the new version.
 * @throws err.unlicensed, err.notFound, err.changedMeanwhile, err.invalidField (Child) where there is not the one child
 * that it would mean, and what the parts throw.
 */
export async function updateKnoc(
  { db, config, rights }: Pick<Deps, 'db' | 'config' | 'rights'>,
  {
    id,
    request,
    ifMatch,
    by,
    requestId,
  }: Acting & { id: string; request: KnocUpdate; ifMatch: string | null },
): Promise<string> {
  await checkLicensed(db.grants)
  const scope = await listTouchedAcls(db.grants, id)
  return rights.change({ acls: scope }, 'knocChanged', async (tx) => {
    const { parentId } = await lockAcl(tx, id)
    const wholeId = parentId ?? id
    checkUnchanged(ifMatch, (await getKnoc(tx, id)).etag)
    const confirmsWholeInternet = request.ConfirmWholeInternet
    const parts = { scope, rules: config, confirmsWholeInternet, by, requestId }
    for (const half of await toHalves(tx, { id, parentId, request }))
      await changeHalf(tx, { ...parts, ...half })
    const users = request.UserIDs && (await setUsers(tx, wholeId, request.UserIDs))
    const groups = request.GroupIDs && (await setGroups(tx, wholeId, request.GroupIDs))
    const { knoc, etag } = await getKnoc(tx, id)
    const detail = {
      ...(parentId !== null && { childId: id }),
      ...(users && { users }),
      ...(groups && { groups }),
    }
    await tellKnoc(tx, 'UpdateKnoc', {
      aclId: wholeId,
      description: knoc.ACL.Description,
      by,
      requestId,
      detail,
    })
    return etag
  })
}

/** What an update says to one ACL and its backend. */
type Half = { id: string; backend?: BackendChange | undefined; acl?: AclChange | undefined; path: string[] }

/** The ACLs that an update changes, parent first. */
async function toHalves(
  tx: Kysely<DB>,
  { id, parentId, request }: { id: string; parentId: string | null; request: KnocUpdate },
): Promise<Half[]> {
  const { Backend, ACL, Child } = request
  if (parentId !== null) {
    if (Child !== undefined) throw apiError('err.invalidField', { extra: 'Child' })
    const { Config, ...fields } = ACL ?? {}
    const parent = { id: parentId, acl: fields, path: [] }
    return [parent, { id, backend: Backend, acl: configOnly(Config), path: [] }]
  }
  const whole = { id, backend: Backend, acl: ACL, path: [] }
  if (Child === undefined) return [whole]
  const [childId, ...others] = await listChildIds(tx, id)
  if (childId === undefined || others.length > 0) throw apiError('err.invalidField', { extra: 'Child' })
  checkId(childId, Child.ACL?.ID)
  return [whole, { id: childId, backend: Child.Backend, acl: configOnly(Child.ACL?.Config), path: ['Child'] }]
}

/** Of a child's ACL nothing else is its own. */
const configOnly = (Config: AclFields['Config'] | undefined): AclChange =>
  Config === undefined ? {} : { Config }

async function changeHalf(
  tx: Kysely<DB>,
  {
    id,
    backend: change = {},
    acl = {},
    path,
    ...parts
  }: Half & Acting & { scope: readonly string[]; rules: Config; confirmsWholeInternet: boolean },
): Promise<void> {
  const { backendId } = await lockAcl(tx, id)
  const { isMoved } = await changeBackend(tx, {
    ...{ id: backendId, change, by: parts.by, scope: parts.scope, exceptAcl: id },
    path: [...path, 'Backend', 'Config'],
  })
  const { backend, agent } = await takeBackend(tx, backendId, { mode: 'share' })
  await changeAcl(tx, { ...parts, id, backend, agent, change: acl, isMoved, path: [...path, 'ACL'] })
}
