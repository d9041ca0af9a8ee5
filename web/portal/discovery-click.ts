import type { QueryClient } from '@tanstack/react-query'
import type { AclStatus } from '#server/status/status.schema.ts'
import { systemStatusQuery } from '../shell/system-status.ts'
import { loadDiscovery } from './discovery-chunk.ts'
import type { FoundAddress, Lookup } from './discovery-lookup.ts'
import { sessionForLookup } from './discovery-start.ts'
import { knownSession, refreshSession } from './user-session.ts'

/** A click waits so long for the lookup ports, in milliseconds; what comes later is told by `/log_ips`. */
const clickWaitMs = 1_000

/** What a click sends, and the way to tell the rest once it was granted. */
export type ClickAddresses = { IPs: FoundAddress[]; tellRest: () => Promise<void> }

/** The ports that are blocked where this browser is, by what the last click has seen: the next doesn't await them. */
let blocked: { address: string; ports: ReadonlySet<number> } = { address: '', ports: new Set() }

/**
 * The addresses that a click on Grant names: the session's own, and for an entry that is open to CGNAT whatever the
 * lookup ports saw within a second. Without a lookup service that is one entry with Port 0. Portal §4.
 */
export async function addressesForClick(entry: AclStatus, queryClient: QueryClient): Promise<ClickAddresses> {
  const begun = entry.CGNATOpen ? beginLookup(queryClient).catch(() => null) : Promise.resolve(null)
  const found = await takeInTime(begun, queryClient)
  const session = knownSession(queryClient) ?? (await refreshSession(queryClient))
  const own = session ? [{ Port: 0, IP: session.status.CurrentAddress }] : []
  return { IPs: [...own, ...found], tellRest: () => tellRest(begun, queryClient) }
}

/** Null while discovery is off. */
async function beginLookup(queryClient: QueryClient): Promise<Lookup | null> {
  const system = await queryClient.ensureQueryData(systemStatusQuery)
  if (system.IPApi === '') return null
  const [{ lookUpPorts }, session] = await Promise.all([loadDiscovery(), sessionForLookup(queryClient)])
  return session && lookUpPorts(system, session)
}

async function takeInTime(begun: Promise<Lookup | null>, queryClient: QueryClient): Promise<FoundAddress[]> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), clickWaitMs)
  })
  try {
    const lookup = await Promise.race([begun, deadline])
    if (lookup === null) return []
    const notAwaited = blocked.address === addressOf(queryClient) ? blocked.ports : undefined
    return await lookup.take(deadline, notAwaited)
  } finally {
    clearTimeout(timer)
  }
}

async function tellRest(begun: Promise<Lookup | null>, queryClient: QueryClient): Promise<void> {
  const lookup = await begun
  if (lookup === null) return
  const address = addressOf(queryClient)
  await (await loadDiscovery()).tellRest(lookup, queryClient)
  blocked = { address, ports: await lookup.blocked }
}

const addressOf = (queryClient: QueryClient): string => knownSession(queryClient)?.status.CurrentAddress ?? ''
