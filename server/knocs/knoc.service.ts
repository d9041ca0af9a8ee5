import type { Kysely } from 'kysely'
import { listChildIds, lockAcl, markAclDeleted } from '../acls/acl.service.ts'
import { addAcl, changeAcl } from '../acls/acl-change.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { listAclsOfBackend, lockBackend, markBackendDeleted } from '../backends/backend.service.ts'
import { takeBackend } from '../backends/backend-agent.ts'
import { addBackend, changeBackend, readConfig } from '../backends/backend-change.ts'
import { listSharers, retarget } from '../backends/target.service.ts'
import type { Deps } from '../context.ts'
import { checkLicensed } from '../licence/licence.service.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { newId } from '../platform/random.ts'
import { getKnoc } from './knoc.query.ts'
import type { KnocCreated, KnocRequest, KnocUpdate } from './knoc.schema.ts'
import { checkListKey, findListUrl, type ListKey, makeListKey, withListKey } from './list-knoc.service.ts'
import { setGroups, setUsers } from './members.store.ts'
import { runCreation } from './run-creation.ts'

type KnocDeps = Pick<Deps, 'db' | 'config' | 'rights'>

/**
 * Makes a knoc: backend, ACL and members, in one transaction. A step that fails, or a process that dies in the
 * middle, leaves nothing. Throws err.unlicensed, and what the steps throw.
 */
export async function createKnoc(
  { db, config, rights }: KnocDeps,
  { request, by, requestId }: Acting & { request: KnocRequest },
): Promise<KnocCreated> {
  await checkLicensed(db.grants)
  const { Backend, ACL } = request
  const [backendId, aclId] = [newId(), newId()]
  const scope = [aclId]
  const name = `${ACL.Description} (${readConfig(Backend.Config).type})`
  checkListKey(request)
  return rights.change({ acls: scope }, 'knocChanged', async (tx) => {
    let key: ListKey = {}
    await runCreation(
      { apiKey: request.ApiKey?.Option ?? 'none', child: false },
      {
        async backend() {
          const parts = { agentId: Backend.AgentID, config: Backend.Config, path: ['Backend', 'Config'] }
          await addBackend(tx, { ...parts, id: backendId, name, by })
        },
        async apiKey() {
          key = await makeListKey(tx, { aclId, request: request.ApiKey, by, requestId })
        },
        async acl() {
          const { backend, agent } = await takeBackend(tx, backendId, { mode: 'share' })
          const parts = { backend, agent, scope, rules: config, by, requestId, path: ['ACL'] }
          const confirmsWholeInternet = request.ConfirmWholeInternet
          const fields = key.id === undefined ? ACL : withListKey(ACL, key.id)
          await addAcl(tx, { ...parts, confirmsWholeInternet, id: aclId, parentId: null, fields })
        },
        async members() {
          await setUsers(tx, aclId, request.UserIDs)
          await setGroups(tx, aclId, request.GroupIDs)
        },
      },
    )
    await tell(tx, 'CreateKnoc', { aclId, description: ACL.Description, by, requestId })
    const url = await findListUrl(tx, { aclId, backend: Backend, config })
    return {
      ID: aclId,
      ...(url !== undefined && { URL: url }),
      ...(key.plaintext !== undefined && { PlaintextKey: key.plaintext }),
    }
  })
}

/**
 * Changes a knoc in one transaction: backend, ACL, then members as differences. Entries follow to the new lists.
 *
 * @param ifMatch the version it was changed from; null when the caller doesn't say.
 * @returns the new version.
 * @throws err.unlicensed, err.notFound, err.changedMeanwhile, and what the parts throw.
 */
export async function updateKnoc(
  { db, config, rights }: KnocDeps,
  {
    id,
    request,
    ifMatch,
    by,
    requestId,
  }: Acting & { id: string; request: KnocUpdate; ifMatch: string | null },
): Promise<string> {
  await checkLicensed(db.grants)
  const { knoc } = await getKnoc(db.grants, id)
  const siblings = await listAclsOfBackend(db.grants, knoc.BackendID)
  const scope = await listSharers(db.grants, [id, ...siblings.map((acl) => acl.id)])
  const memberAclId = knoc.ParentID ?? id
  const locked = [...new Set([...scope, memberAclId])]
  return rights.change({ acls: locked }, 'knocChanged', async (tx) => {
    const { backendId } = await lockAcl(tx, id)
    checkUnchanged(ifMatch, (await getKnoc(tx, id)).etag)
    const { isMoved } = await changeBackend(tx, {
      id: backendId,
      change: request.Backend ?? {},
      by,
      path: ['Backend', 'Config'],
      scope,
      exceptAcl: id,
    })
    const { backend, agent } = await takeBackend(tx, backendId, { mode: 'share' })
    const parts = {
      ...{ backend, agent, scope, rules: config, by, requestId, path: ['ACL'] },
      confirmsWholeInternet: request.ConfirmWholeInternet,
    }
    const { fields } = await changeAcl(tx, { ...parts, id, change: request.ACL ?? {}, isMoved })
    const users = request.UserIDs && (await setUsers(tx, memberAclId, request.UserIDs))
    const groups = request.GroupIDs && (await setGroups(tx, memberAclId, request.GroupIDs))
    const detail = { ...(users && { users }), ...(groups && { groups }) }
    await tell(tx, 'UpdateKnoc', { aclId: id, description: fields.Description, by, requestId, detail })
    return (await getKnoc(tx, id)).etag
  })
}

/**
 * Deletes a knoc: its ACL and children, the backends nobody else uses, its memberships. Its entries stay as debts
 * until they are seen closed. Throws err.notFound.
 */
export async function deleteKnoc(
  { db, rights }: Pick<Deps, 'db' | 'rights'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  const acls = [...(await listChildIds(db.grants, id)), id]
  await rights.change({ acls }, 'knocDeleted', async (tx) => {
    const { fields } = await lockAcl(tx, id)
    for (const aclId of acls) {
      const { backendId } = await lockAcl(tx, aclId)
      await markAclDeleted(tx, aclId, by)
      await retarget(tx, aclId, acls)
      await deleteUnusedBackend(tx, backendId, by)
    }
    await tell(tx, 'DeleteKnoc', { aclId: id, description: fields.Description, by, requestId })
  })
}

async function deleteUnusedBackend(tx: Kysely<DB>, id: string, by: string): Promise<void> {
  await lockBackend(tx, id, 'update')
  if ((await listAclsOfBackend(tx, id)).length === 0) await markBackendDeleted(tx, id, by)
}

async function tell(
  tx: Kysely<DB>,
  kind: 'CreateKnoc' | 'UpdateKnoc' | 'DeleteKnoc',
  facts: Acting & { aclId: string; description: string; detail?: Record<string, unknown> },
): Promise<void> {
  const { aclId, description, by, requestId, detail } = facts
  const fields = { AdminName: by, AclDescription: description }
  await writeAudit(tx, [{ kind, fields, detail: { aclId, ...detail } }], requestId)
}
