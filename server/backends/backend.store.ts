import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import type { Sealed } from './sealing.schema.ts'

/** A configured backend as it is recorded; `config` has no secrets. */
export type Backend = {
  id: string
  name: string
  agentId: string | null
  type: string
  config: Record<string, unknown>
  sealed: Sealed
}

const fields = ['id', 'name', 'agentId', 'type', 'config', 'sealed'] as const

/** A backend; throws err.notFound. */
export async function getBackend(db: Kysely<DB>, id: string): Promise<Backend> {
  const row = await db
    .selectFrom('backends')
    .select(fields)
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw apiError('err.notFound')
  return toBackend(row)
}

/** A backend's kind, if it is there. */
export async function findBackendType(db: Kysely<DB>, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('backends')
    .select('type')
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
  return row?.type
}

/** A backend, locked until the transaction ends: `update` to change it, `share` to hang an ACL on it. */
export async function lockBackend(tx: Kysely<DB>, id: string, mode: 'update' | 'share'): Promise<Backend> {
  const query = tx.selectFrom('backends').select(fields).where('id', '=', id).where('deletedAt', 'is', null)
  const row = await (mode === 'share' ? query.forShare() : query.forNoKeyUpdate()).executeTakeFirst()
  if (row === undefined) throw apiError('err.notFound')
  return toBackend(row)
}

/** Whether there is any backend at all. */
export async function hasBackends(db: Kysely<DB>): Promise<boolean> {
  const rows = await db.selectFrom('backends').select('id').where('deletedAt', 'is', null).limit(1).execute()
  return rows.length > 0
}

/** Inserts a backend. */
export async function insertBackend(tx: Kysely<DB>, backend: Backend & { by: string }): Promise<void> {
  const { id, name, agentId, type, config, sealed, by } = backend
  await tx
    .insertInto('backends')
    .values({
      id,
      name,
      agentId,
      type,
      config: JSON.stringify(config),
      sealed: JSON.stringify(sealed),
      lastModifiedBy: by,
    })
    .execute()
}

/** Writes what a backend is now. */
export async function updateBackend(tx: Kysely<DB>, backend: Backend & { by: string }): Promise<void> {
  const { id, name, agentId, config, sealed, by } = backend
  await tx
    .updateTable('backends')
    .set({
      name,
      agentId,
      config: JSON.stringify(config),
      sealed: JSON.stringify(sealed),
      lastModifiedAt: sql`now()`,
      lastModifiedBy: by,
    })
    .where('id', '=', id)
    .execute()
}

/** Marks a backend deleted; its targets stay until they are drained. */
export async function markBackendDeleted(tx: Kysely<DB>, id: string, by: string): Promise<void> {
  await tx
    .updateTable('backends')
    .set({ deletedAt: sql`now()`, lastModifiedAt: sql`now()`, lastModifiedBy: by })
    .where('id', '=', id)
    .execute()
}

/** An ACL of a backend, with what hangs on the backend's settings. */
export type BackendAcl = { id: string; config: Record<string, unknown>; sealed: Sealed }

/** The ACLs of a backend, in id order. */
export async function listAclsOfBackend(db: Kysely<DB>, backendId: string): Promise<BackendAcl[]> {
  const rows = await db
    .selectFrom('acls')
    .select(['id', 'config', 'sealed'])
    .where('backendId', '=', backendId)
    .where('deletedAt', 'is', null)
    .orderBy('id')
    .execute()
  return rows as BackendAcl[]
}

/** Writes an ACL's list settings. */
export async function updateListSettings(tx: Kysely<DB>, acl: BackendAcl): Promise<void> {
  await tx
    .updateTable('acls')
    .set({ config: JSON.stringify(acl.config), sealed: JSON.stringify(acl.sealed) })
    .where('id', '=', acl.id)
    .execute()
}

/** Nobody can read these secrets any more: the agent's key is gone. Each stays as a gap to be filled. */
export async function loseSecrets(tx: Kysely<DB>, agentId: string): Promise<void> {
  const gaps = sql`(select coalesce(jsonb_object_agg(key, ''), '{}') from jsonb_object_keys(sealed) as key)`
  const { rows } = await sql<{ id: string }>`
    update backends set sealed = ${gaps}
    where id in (select id from backends where agent_id = ${agentId} and deleted_at is null order by id for no key update)
    returning id`.execute(tx)
  const ids = rows.map((row) => row.id)
  await sql`
    update acls set sealed = ${gaps} where backend_id = any (${ids}::uuid[]) and deleted_at is null
      and sealed <> '{}'`.execute(tx)
  await noteCredentials(tx, ids)
}

/** Sets `needs_credentials` of backends that have a secret, or an ACL with one, that is lost. */
export async function noteCredentials(tx: Kysely<DB>, backendIds: readonly string[]): Promise<void> {
  await sql`
    update backends b set needs_credentials =
      exists (select from jsonb_each_text(b.sealed) as field where field.value = '')
      or exists (
        select from acls a, jsonb_each_text(a.sealed) as field
        where a.backend_id = b.id and a.deleted_at is null and field.value = '')
    where b.id = any (${[...backendIds]}::uuid[])`.execute(tx)
}

const toBackend = (row: { config: unknown; sealed: unknown } & Omit<Backend, 'config' | 'sealed'>): Backend =>
  row as Backend
