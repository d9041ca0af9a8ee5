import type { z } from 'zod'
import { checkCapable } from '../agents/compatibility.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { findBackendType, hasBackends } from '../backends/backend.service.ts'
import { takeBackend } from '../backends/backend-agent.ts'
import { getDefinition } from '../backends/find-definition.ts'
import { listSharers, retarget } from '../backends/target.service.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { checkLicensed } from '../licence/licence.service.ts'
import { newId } from '../platform/random.ts'
import type { aclSchema, aclUpdateSchema } from './acl.schema.ts'
import { listChildIds, lockAcl, markAclDeleted } from './acl.store.ts'
import { addAcl, changeAcl } from './acl-change.ts'
import { findWholeKnoc, listFamily } from './passive-plus.query.ts'

export { listChildIds, lockAcl, markAclDeleted } from './acl.store.ts'

/**
 * Makes an ACL on a backend that exists. Throws err.unlicensed, err.createBackendBeforeACL while there is no backend,
 * err.noBackendSelected for one that isn't there, and what `addAcl` throws.
 */
export async function createAcl(
  { db, config, rights }: Pick<Deps, 'db' | 'config' | 'rights'>,
  { request, by, requestId }: Acting & { request: z.output<typeof aclSchema> },
): Promise<{ ID: string }> {
  await checkLicensed(db.grants)
  const { BackendID, ParentID, ConfirmWholeInternet, ...fields } = request
  if (!(await hasBackends(db.grants))) throw apiError('err.createBackendBeforeACL')
  if ((await findBackendType(db.grants, BackendID)) === undefined)
    throw apiError('err.noBackendSelected', { extra: 'BackendID' })
  const id = newId()
  const scope = ParentID == null ? [id] : [id, ParentID]
  await rights.change({ acls: scope }, 'knocChanged', async (tx) => {
    const { backend, agent } = await takeBackend(tx, BackendID, { mode: 'share' })
    if (agent !== null) checkCapable(getDefinition(backend.type), agent)
    const parts = {
      ...{ backend, agent, scope, rules: config, by, requestId, path: [] },
      confirmsWholeInternet: ConfirmWholeInternet,
    }
    await addAcl(tx, { ...parts, id, parentId: ParentID ?? null, fields })
    const told = { AdminName: by, AclDescription: fields.Description }
    await writeAudit(tx, [{ kind: 'CreateACL', fields: told, detail: { aclId: id } }], requestId)
  })
  return { ID: id }
}

/** Changes an ACL; it may move to another backend of its type. Throws as `createAcl`, and err.backendTypeFixed. */
export async function updateAcl(
  { db, config, rights }: Pick<Deps, 'db' | 'config' | 'rights'>,
  { id, request, by, requestId }: Acting & { id: string; request: z.output<typeof aclUpdateSchema> },
): Promise<void> {
  await checkLicensed(db.grants)
  const scope = await listSharers(db.grants, await listFamily(db.grants, [id]))
  await rights.change({ acls: scope }, 'knocChanged', async (tx) => {
    const { BackendID, ParentID, ConfirmWholeInternet, ID: _, ...change } = request
    const { backendId } = await lockAcl(tx, id)
    const wanted = BackendID ?? backendId
    const type = await findBackendType(tx, wanted)
    if (type === undefined) throw apiError('err.noBackendSelected', { extra: 'BackendID' })
    if (type !== (await findBackendType(tx, backendId))) throw apiError('err.backendTypeFixed')
    const { backend, agent } = await takeBackend(tx, wanted, { mode: 'share' })
    const parts = {
      ...{ backend, agent, scope, rules: config, by, requestId, path: [] },
      confirmsWholeInternet: ConfirmWholeInternet,
    }
    const { fields } = await changeAcl(tx, { ...parts, id, parentId: ParentID, change, isMoved: false })
    const told = { AdminName: by, AclDescription: fields.Description }
    await writeAudit(tx, [{ kind: 'UpdateACL', fields: told, detail: { aclId: id } }], requestId)
  })
}

/**
 * Deletes an ACL with its memberships; its entries stay until they are seen closed. Throws err.notFound, and for a
 * parent or a child, which go together only, err.partOfKnoc (Extra: the Passive+ knoc) or err.detachAcls.
 */
export async function deleteAcl(
  { rights }: Pick<Deps, 'rights'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  await rights.change({ acls: [id] }, 'knocDeleted', async (tx) => {
    const { fields, parentId } = await lockAcl(tx, id)
    const whole = await findWholeKnoc(tx, [id])
    if (whole !== undefined) throw apiError('err.partOfKnoc', { extra: whole })
    if (parentId !== null || (await listChildIds(tx, id)).length > 0) throw apiError('err.detachAcls')
    await markAclDeleted(tx, id, by)
    await retarget(tx, id, [id])
    const told = { AdminName: by, AclDescription: fields.Description }
    await writeAudit(tx, [{ kind: 'DeleteACL', fields: told, detail: { aclId: id } }], requestId)
  })
}
