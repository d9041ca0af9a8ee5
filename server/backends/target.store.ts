import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { Sealed } from './sealing.schema.ts'
import type { OtherHolder, StandingTarget, TargetSettings } from './target-choice.ts'

/** An ACL with what its backend says, as its lists are made from them. */
export type ListOwner = {
  type: string
  agentId: string | null
  backendId: string
  /** The ACL above, whose list is refreshed; null for one that keeps entries itself. */
  parentId: string | null
  backendConfig: Record<string, unknown>
  backendSealed: Sealed
  aclConfig: Record<string, unknown>
  aclSealed: Sealed
}

/** What an ACL's lists are made from; undefined for one that is deleted. */
export async function findListOwner(tx: Kysely<DB>, aclId: string): Promise<ListOwner | undefined> {
  const { rows } = await sql<ListOwner>`
    select b.type, b.agent_id, b.id as backend_id, a.parent_id, b.config as backend_config, b.sealed as backend_sealed,
      a.config as acl_config, a.sealed as acl_sealed
    from acls a join backends b on b.id = a.backend_id
    where a.id = ${aclId} and a.deleted_at is null and b.deleted_at is null`.execute(tx)
  return rows[0]
}

/** The active target of a key, locked: nobody else can drain or replace it before the transaction ends. */
export async function findStandingTarget(tx: Kysely<DB>, key: string): Promise<StandingTarget | undefined> {
  const { rows } = await sql<StandingTarget>`
    select t.id, t.key, t.type, t.agent_id, t.backend_id, t.family, t.expiry, t.backend_config, t.list_config,
      t.sealed, coalesce(b.deleted_at is not null or b.needs_credentials, true) as is_stale
    from targets t left join backends b on b.id = t.backend_id
    where t.key = ${key} and t.state = 'active'
    for no key update of t`.execute(tx)
  return rows[0]
}

/** The ACLs beside one that use a target, each with the ACL above it. */
export async function listOtherHolders(
  tx: Kysely<DB>,
  { targetId, aclId }: { targetId: string; aclId: string },
): Promise<(OtherHolder & { parentId: string | null })[]> {
  const { rows } = await sql<OtherHolder & { parentId: string | null }>`
    select distinct a.id as acl_id, a.backend_id, a.description, a.parent_id
    from acl_targets t join acls a on a.id = t.acl_id
    where t.target_id = ${targetId} and t.acl_id <> ${aclId}
    order by a.description`.execute(tx)
  return rows
}

/** Inserts an active target; undefined when another transaction has just made one with the same key. */
export async function insertTarget(tx: Kysely<DB>, target: TargetSettings): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into targets (key, agent_id, backend_id, type, family, expiry, backend_config, list_config, sealed)
    values (${target.key}, ${target.agentId}, ${target.backendId}, ${target.type}, ${target.family},
      ${target.expiry}, ${JSON.stringify(target.backendConfig)}, ${JSON.stringify(target.listConfig)},
      ${JSON.stringify(target.sealed)})
    on conflict (key) where state = 'active' do nothing
    returning id`.execute(tx)
  return rows[0]?.id
}

/** A target takes no new entries: it is kept until its last one is seen closed. */
export async function drainTarget(tx: Kysely<DB>, id: string): Promise<void> {
  await tx.updateTable('targets').set({ state: 'draining' }).where('id', '=', id).execute()
}

/** Everybody who kept entries on one target keeps them on another from now on. */
export async function moveHolders(tx: Kysely<DB>, from: string, to: string): Promise<void> {
  await tx.updateTable('aclTargets').set({ targetId: to }).where('targetId', '=', from).execute()
}

/** Targets of an ACL. */
export async function listTargetIds(tx: Kysely<DB>, aclId: string): Promise<string[]> {
  const rows = await tx.selectFrom('aclTargets').select('targetId').where('aclId', '=', aclId).execute()
  return rows.map((row) => row.targetId)
}

/** Sets which target takes an ACL's entries of which family. */
export async function replaceAclTargets(
  tx: Kysely<DB>,
  aclId: string,
  targets: readonly { family: 4 | 6; targetId: string }[],
): Promise<void> {
  const families = targets.map(({ family }) => family)
  await sql`delete from acl_targets where acl_id = ${aclId} and family <> all (${families}::smallint[])`.execute(
    tx,
  )
  if (targets.length === 0) return
  await tx
    .insertInto('aclTargets')
    .values(targets.map((target) => ({ aclId, ...target })))
    .onConflict((conflict) =>
      conflict.columns(['aclId', 'family']).doUpdateSet({ targetId: (row) => row.ref('excluded.targetId') }),
    )
    .execute()
}

/**
 * Drains those of the targets that no ACL holds any more. Locked first, in their own statement: only then is it
 * certain that whoever was about to take one has done so.
 */
export async function drainUnheld(tx: Kysely<DB>, targetIds: readonly string[]): Promise<void> {
  if (targetIds.length === 0) return
  await sql`
    select id from targets where id = any (${[...targetIds]}::uuid[]) order by id for no key update`.execute(
    tx,
  )
  await sql`
    update targets t set state = 'draining'
    where t.id = any (${[...targetIds]}::uuid[]) and t.state = 'active'
      and not exists (select from acl_targets a where a.target_id = t.id)`.execute(tx)
}

/** ACLs that keep entries on a target of one of these ACLs, themselves included. */
export async function listSharers(db: Kysely<DB>, aclIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ aclId: string }>`
    select distinct other.acl_id
    from acl_targets own join acl_targets other on other.target_id = own.target_id
    where own.acl_id = any (${[...aclIds]}::uuid[])`.execute(db)
  return [...new Set([...aclIds, ...rows.map((row) => row.aclId)])]
}
