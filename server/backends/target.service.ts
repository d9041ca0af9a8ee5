import type { Kysely } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { getDefinition } from './find-definition.ts'
import {
  drainTarget,
  drainUnheld,
  findListOwner,
  findStandingTarget,
  insertTarget,
  type ListOwner,
  listOtherHolders,
  listTargetIds,
  moveHolders,
  replaceAclTargets,
} from './target.store.ts'
import { chooseTarget, type TargetSettings } from './target-choice.ts'

export { listSharers } from './target.store.ts'

/**
 * Gives an ACL the lists that its and its backend's settings name now, and drains those that nobody holds any more
 * (decisions 4 and 5). A deleted ACL gets none.
 *
 * Runs inside `rights.change`, whose scope is `scope`: the ACLs whose rights are locked. Only their entries may move.
 *
 * @throws err.targetTaken (Extra: the knoc) when the list is another knoc's with other settings or another agent, and
 * for a device's list that fetches another passive list already: it has one source.
 */
export async function retarget(tx: Kysely<DB>, aclId: string, scope: readonly string[]): Promise<void> {
  const owner = await findListOwner(tx, aclId)
  const before = await listTargetIds(tx, aclId)
  const wanted = owner === undefined ? [] : planLists(aclId, owner)
  const placed: { family: 4 | 6; targetId: string }[] = []
  for (const { families, settings } of wanted) {
    const targetId = await placeTarget(tx, settings, { aclId, parentId: owner?.parentId ?? null, scope })
    placed.push(...families.map((family) => ({ family, targetId })))
  }
  await replaceAclTargets(tx, aclId, placed)
  await drainUnheld(tx, before)
}

type WantedList = { families: readonly (4 | 6)[]; settings: TargetSettings }

/** The lists in the order of their keys, which is the order they are locked in. */
function planLists(aclId: string, owner: ListOwner): WantedList[] {
  const { type, agentId, backendId, backendConfig, aclConfig } = owner
  const definition = getDefinition(type)
  return definition
    .targets({ aclId, agentId, backend: backendConfig, acl: aclConfig })
    .map(({ families, key, list }) => ({
      families,
      settings: {
        key,
        type,
        agentId,
        backendId,
        family: families.length === 1 ? (families[0] ?? null) : null,
        expiry: definition.expiry,
        backendConfig,
        // As the database gives it back: without the fields that are undefined.
        listConfig: JSON.parse(JSON.stringify(list)) as Record<string, unknown>,
        sealed: { ...owner.backendSealed, ...owner.aclSealed },
      },
    }))
    .toSorted((left, right) => (left.settings.key < right.settings.key ? -1 : 1))
}

async function placeTarget(
  tx: Kysely<DB>,
  settings: TargetSettings,
  owner: { aclId: string; parentId: string | null; scope: readonly string[] },
): Promise<string> {
  const { aclId, parentId, scope } = owner
  const standing = await findStandingTarget(tx, settings.key)
  // Where another transaction makes the same list between our look and our insert, the next look finds it.
  if (standing === undefined) return (await insertTarget(tx, settings)) ?? placeTarget(tx, settings, owner)
  const others = await listOtherHolders(tx, { targetId: standing.id, aclId })
  const otherSource = others.find((holder) => holder.parentId !== parentId)
  if (otherSource !== undefined) throw apiError('err.targetTaken', { extra: otherSource.description })
  const choice = chooseTarget(settings, standing, { others, scope })
  if (choice === 'use') return standing.id
  if (choice === 'refuse')
    throw apiError('err.targetTaken', { extra: others[0]?.description ?? settings.key })
  // Someone took the list after the scope was chosen, and his rights are not locked: begin again.
  if (others.some((holder) => !scope.includes(holder.aclId))) throw apiError('err.changedMeanwhile')
  await drainTarget(tx, standing.id)
  const targetId = await insertTarget(tx, settings)
  if (targetId === undefined) throw apiError('err.changedMeanwhile')
  await moveHolders(tx, standing.id, targetId)
  return targetId
}
