import type { QueryClient } from '@tanstack/react-query'
import type { AclStatus, SystemStatus } from '#server/status/status.schema.ts'
import { freshFor } from '../shell/query-client.ts'
import { systemStatusQuery } from '../shell/system-status.ts'
import { logRest } from './discovery-log.ts'
import {
  familyTargets,
  type Lookup,
  type LookupTarget,
  portTargets,
  startLookup,
} from './discovery-lookup.ts'
import { createRounds, type Rounds } from './discovery-rounds.ts'
import { sessionForLookup } from './discovery-start.ts'
import { endIfExpired, refreshSession, type UserSession } from './user-session.ts'

/** Asks the lookup ports for a click. */
export const lookUpPorts = (system: SystemStatus, { status }: UserSession): Lookup =>
  startLookup(portTargets(system), { nonce: status.Nonce })

/** Tells the server what a lookup finds from now on, and reads what became of it. Resolves when the lookup is over. */
export async function tellRest(lookup: Lookup, queryClient: QueryClient): Promise<void> {
  try {
    if (await logRest(lookup, queryClient)) await refreshSession(queryClient)
  } catch (error) {
    if (!endIfExpired(queryClient, error)) throw error
  }
}

/** Looks up what this session needs for as long as its page is open. */
export const startRounds = (queryClient: QueryClient): Rounds =>
  createRounds(() => lookUpOnce(queryClient).catch(() => false))

/** Asks every service that matters to this session; false when one of them has not answered. */
async function lookUpOnce(queryClient: QueryClient): Promise<boolean> {
  const system = await queryClient.fetchQuery({ ...systemStatusQuery, staleTime: freshFor.status })
  const session = await sessionForLookup(queryClient)
  if (session === null) return true
  const targets = targetsOf(system, session.status.ACLs)
  if (targets.length === 0) return true
  const lookup = startLookup(targets, { nonce: session.status.Nonce })
  await tellRest(lookup, queryClient)
  return (await lookup.blocked).size === 0
}

/** The families always; the lookup ports when an entry takes what they find without a click, or is open by one. */
export const targetsOf = (system: SystemStatus, entries: readonly AclStatus[]): LookupTarget[] => [
  ...familyTargets(system),
  ...(entries.some(takesFound) ? portTargets(system) : []),
]

const waitingForClick: readonly number[] = [4, 9]

const takesFound = ({ CGNATOpen, ClickToGrant, Status }: AclStatus): boolean =>
  CGNATOpen && !(ClickToGrant && waitingForClick.includes(Status))
