import { isDeepStrictEqual } from 'node:util'
import type { Sealed } from './sealing.schema.ts'

/** A list as its backend's and ACL's settings make it: everything a target's row says. */
export type TargetSettings = {
  key: string
  type: string
  agentId: string | null
  backendId: string
  family: 4 | 6 | null
  expiry: 'native' | 'agent'
  backendConfig: Record<string, unknown>
  listConfig: Record<string, unknown>
  sealed: Sealed
}

/** The target that stands under the same key now. */
export type StandingTarget = TargetSettings & {
  id: string
  /** Its backend is deleted, or its secrets are lost: what it is driven with works no more. */
  isStale: boolean
}

/** Another ACL that keeps its entries on the standing target. */
export type OtherHolder = { aclId: string; backendId: string; description: string }

/**
 * What to do about the list that stands under a wanted list's key: use it as it is, put a new target in its place
 * for everybody who holds it, or refuse because somebody else's settings of the same list would be overwritten.
 *
 * One list has one target, whatever knocs name it (decision 5), and a target is never edited (decision 4).
 */
export function chooseTarget(
  wanted: TargetSettings,
  standing: StandingTarget,
  { others, scope }: { others: readonly OtherHolder[]; scope: readonly string[] },
): 'use' | 'replace' | 'refuse' {
  const strangers = others.filter((holder) => holder.backendId !== wanted.backendId)
  const list = (target: TargetSettings) => [target.listConfig, sealedOf(target, 'list.'), target.family]
  const backend = (target: TargetSettings) => [
    target.type,
    target.agentId,
    target.backendConfig,
    target.expiry,
  ]
  if (!isDeepStrictEqual(list(wanted), list(standing))) return others.length > 0 ? 'refuse' : 'replace'
  if (!isDeepStrictEqual(backend(wanted), backend(standing)))
    return strangers.length > 0 ? 'refuse' : 'replace'
  if (isDeepStrictEqual(sealedOf(wanted, 'backend.'), sealedOf(standing, 'backend.'))) return 'use'
  const isOurs = standing.backendId === wanted.backendId || standing.isStale
  return isOurs && others.every((holder) => scope.includes(holder.aclId)) ? 'replace' : 'use'
}

const sealedOf = ({ sealed }: TargetSettings, prefix: string): Sealed =>
  Object.fromEntries(Object.entries(sealed).filter(([field]) => field.startsWith(prefix)))
