import { findWholeKnoc } from '../acls/passive-plus.query.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { checkLicensed } from '../licence/licence.service.ts'
import { inTransaction } from '../platform/database.ts'
import { newId } from '../platform/random.ts'
import type { BackendChange, BackendFields } from './backend.schema.ts'
import { getBackend, listAclsOfBackend, lockBackend, markBackendDeleted } from './backend.store.ts'
import { addBackend, changeBackend } from './backend-change.ts'
import { listSharers } from './target.service.ts'

export {
  type Backend,
  findBackendType,
  hasBackends,
  listAclsOfBackend,
  lockBackend,
  loseSecrets as loseSecretsOfAgent,
  markBackendDeleted,
  noteCredentials,
} from './backend.store.ts'

/** Makes a backend. Throws err.unlicensed, and what `addBackend` throws. */
export async function createBackend(
  { db }: Pick<Deps, 'db'>,
  { name, fields, by, requestId }: Acting & { name: string; fields: BackendFields },
): Promise<{ ID: string }> {
  await checkLicensed(db.grants)
  const id = newId()
  await inTransaction(db.grants, async (tx) => {
    await addBackend(tx, { id, name, agentId: fields.AgentID, config: fields.Config, by, path: ['Config'] })
    await writeAudit(tx, [{ kind: 'CreateBackend', fields: { AdminName: by, Description: name } }], requestId)
  })
  return { ID: id }
}

/**
 * Changes a backend; entries of its knocs move to the new target and the old one drains. Throws err.unlicensed, and
 * what `changeBackend` throws.
 */
export async function updateBackend(
  { db, rights }: Pick<Deps, 'db' | 'rights'>,
  {
    id,
    name,
    change,
    by,
    requestId,
  }: Acting & { id: string; name?: string | undefined; change: BackendChange },
): Promise<void> {
  await checkLicensed(db.grants)
  await getBackend(db.grants, id)
  const acls = await listAclsOfBackend(db.grants, id)
  const scope = await listSharers(
    db.grants,
    acls.map((acl) => acl.id),
  )
  await rights.change({ acls: scope }, 'knocChanged', async (tx) => {
    const { backend } = await changeBackend(tx, { id, name, change, by, path: ['Config'], scope })
    const fields = { AdminName: by, Description: backend.name }
    await writeAudit(tx, [{ kind: 'UpdateBackend', fields }], requestId)
  })
}

/**
 * Deletes a backend that no ACL needs. Throws err.notFound, err.detachAcls, and err.partOfKnoc (Extra: the Passive+
 * knoc) where deleting the ACL alone would be refused as well.
 */
export async function deleteBackend(
  { db }: Pick<Deps, 'db'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    const { name } = await lockBackend(tx, id, 'update')
    const acls = await listAclsOfBackend(tx, id)
    const whole = await findWholeKnoc(
      tx,
      acls.map((acl) => acl.id),
    )
    if (whole !== undefined) throw apiError('err.partOfKnoc', { extra: whole })
    if (acls.length > 0) throw apiError('err.detachAcls')
    await markBackendDeleted(tx, id, by)
    await writeAudit(tx, [{ kind: 'DeleteBackend', fields: { AdminName: by, Description: name } }], requestId)
  })
}
