import type { Kysely } from 'kysely'
import type { AclFields } from '../acls/acl.schema.ts'
import { listChildIds, lockAcl, markAclDeleted } from '../acls/acl.service.ts'
import { addAcl } from '../acls/acl-change.ts'
import type { Acting } from '../audit/acting-admin.ts'
import type { BackendFields } from '../backends/backend.schema.ts'
import { listAclsOfBackend, lockBackend, markBackendDeleted } from '../backends/backend.service.ts'
import { takeBackend } from '../backends/backend-agent.ts'
import { addBackend, readConfig } from '../backends/backend-change.ts'
import { retarget } from '../backends/target.service.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { checkLicensed } from '../licence/licence.service.ts'
import type { DB } from '../platform/database.types.ts'
import { newId } from '../platform/random.ts'
import { checkChild } from './child-knoc.ts'
import type { KnocCreated, KnocRequest } from './knoc.schema.ts'
import { tellKnoc } from './knoc-audit.ts'
import { checkListKey, findListUrl, type ListKey, makeListKey, withListKey } from './list-knoc.service.ts'
import { setGroups, setUsers } from './members.store.ts'
import { runCreation } from './run-creation.ts'

/**
 * Makes a knoc: backend, ACL and members, for Passive+ a second backend with the child ACL, in one transaction. A step
 * that fails, or a process that dies in the middle, leaves nothing. Throws err.unlicensed, and what the steps throw.
 */
export async function createKnoc(
  { db, config, rights }: Pick<Deps, 'db' | 'config' | 'rights'>,
  { request, by, requestId }: Acting & { request: KnocRequest },
): Promise<KnocCreated> {
  await checkLicensed(db.grants)
  const { Backend, ACL, Child } = request
  const parent = { id: newId(), backendId: newId(), parentId: null }
  const child = { id: newId(), backendId: newId(), parentId: parent.id }
  const scope = Child === undefined ? [parent.id] : [parent.id, child.id]
  checkListKey(request)
  checkChild(request)
  return rights.change({ acls: scope }, 'knocChanged', async (tx) => {
    const makeBackend = (id: string, { AgentID, Config }: BackendFields, path: string[]) => {
      const name = `${ACL.Description} (${readConfig(Config).type})`
      return addBackend(tx, {
        id,
        name,
        agentId: AgentID,
        config: Config,
        by,
        path: [...path, 'Backend', 'Config'],
      })
    }
    const makeAcl = async (
      { backendId, ...ids }: typeof parent | typeof child,
      fields: AclFields,
      path: string[],
    ) => {
      const { backend, agent } = await takeBackend(tx, backendId, { mode: 'share' })
      const confirmsWholeInternet = request.ConfirmWholeInternet
      const parts = { backend, agent, scope, rules: config, confirmsWholeInternet, by, requestId }
      await addAcl(tx, { ...parts, ...ids, fields, path: [...path, 'ACL'] })
    }
    let key: ListKey = {}
    await runCreation(
      { apiKey: request.ApiKey?.Option ?? 'none', child: Child !== undefined },
      {
        async backend() {
          await makeBackend(parent.backendId, Backend, [])
        },
        async apiKey() {
          key = await makeListKey(tx, { aclId: parent.id, request: request.ApiKey, by, requestId })
        },
        async acl() {
          await makeAcl(parent, key.id === undefined ? ACL : withListKey(ACL, key.id), [])
        },
        ...(Child !== undefined && {
          async childBackend() {
            await makeBackend(child.backendId, Child.Backend, ['Child'])
          },
          async childAcl() {
            await makeAcl(child, { ...ACL, Config: Child.ACL.Config }, ['Child'])
          },
        }),
        async members() {
          await setUsers(tx, parent.id, request.UserIDs)
          await setGroups(tx, parent.id, request.GroupIDs)
        },
      },
    )
    const detail = Child === undefined ? {} : { childId: child.id }
    await tellKnoc(tx, 'CreateKnoc', {
      aclId: parent.id,
      description: ACL.Description,
      by,
      requestId,
      detail,
    })
    const url = await findListUrl(tx, { aclId: parent.id, backend: Backend, config })
    return {
      ID: parent.id,
      ...(Child !== undefined && { ChildID: child.id }),
      ...(url !== undefined && { URL: url }),
      ...(key.plaintext !== undefined && { PlaintextKey: key.plaintext }),
    }
  })
}

/**
 * Deletes a knoc: child ACL, child backend, ACL, backend, in this order; backends only where nobody else uses them. Its
 * memberships go along; its entries stay as debts until they are seen closed.
 *
 * The parent's id means the whole. By the child's it is refused, because whoever names a child may mean to lose no more
 * than that, and neither half goes alone. Specification README "Passive+".
 *
 * @throws err.notFound; err.partOfKnoc, Extra the knoc's name, for a child; err.changedMeanwhile when a child was made
 * at the same moment.
 */
export async function deleteKnoc(
  { db, rights }: Pick<Deps, 'db' | 'rights'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  const children = await listChildIds(db.grants, id)
  const acls = [...children, id]
  await rights.change({ acls }, 'knocDeleted', async (tx) => {
    const { fields, parentId } = await lockAcl(tx, id)
    if (parentId !== null) throw apiError('err.partOfKnoc', { extra: fields.Description })
    if ((await listChildIds(tx, id)).some((child) => !acls.includes(child)))
      throw apiError('err.changedMeanwhile')
    for (const aclId of acls) await deletePart(tx, aclId, { acls, by })
    await tellKnoc(tx, 'DeleteKnoc', { aclId: id, description: fields.Description, by, requestId })
  })
}

async function deletePart(
  tx: Kysely<DB>,
  aclId: string,
  { acls, by }: { acls: readonly string[]; by: string },
): Promise<void> {
  const { backendId } = await lockAcl(tx, aclId)
  await markAclDeleted(tx, aclId, by)
  await retarget(tx, aclId, acls)
  await lockBackend(tx, backendId, 'update')
  if ((await listAclsOfBackend(tx, backendId)).length === 0) await markBackendDeleted(tx, backendId, by)
}
