import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { SystemStatus } from '#server/status/status.schema.ts'
import { systemStatusQuery } from '../shell/system-status.ts'
import { addressesOf } from './address-news.ts'
import { loadDiscovery } from './discovery-chunk.ts'
import type { Rounds } from './discovery-rounds.ts'
import { onNetworkChange, onReturn } from './network-changes.ts'
import type { UserSession } from './user-session.ts'

/**
 * Looks up a session's further addresses while its page is open: the other family's, and those behind CGNAT where an
 * entry takes them. Nothing of it is loaded while address discovery is off.
 */
export function useDiscovery(session: UserSession | null | undefined): void {
  const queryClient = useQueryClient()
  const { data: system } = useQuery(systemStatusQuery)
  const tag = session?.status.Session
  const isOn = system !== undefined && tag !== undefined && hasLookup(system)
  const own = session ? ownAddresses(session) : ''
  const rounds = useRef<Rounds | null>(null)

  useEffect(() => {
    if (!isOn) return undefined
    let isOver = false
    const unload = () => {
      isOver = true
      rounds.current?.stop()
      rounds.current = null
    }
    loadDiscovery().then(
      ({ startRounds }) => {
        if (!isOver) rounds.current = startRounds(queryClient)
      },
      // Without it access holds for the address that the server sees.
      () => null,
    )
    const stopListening = [
      onNetworkChange(() => rounds.current?.ask('network')),
      onReturn(() => rounds.current?.ask('returned')),
    ]
    return () => {
      unload()
      for (const stop of stopListening) stop()
    }
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- another session begins anew
  }, [isOn, tag, queryClient])

  // A move puts the other addresses in doubt: they are dropped unless seen again within a minute.
  useEffect(() => {
    rounds.current?.ask('moved')
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- a move is what asks
  }, [own])
}

const hasLookup = ({ IPApi, IPv4Origin, IPv6Origin }: SystemStatus): boolean =>
  IPApi !== '' || IPv4Origin !== '' || IPv6Origin !== ''

const ownAddresses = ({ status }: UserSession): string =>
  addressesOf(status)
    .filter(({ Source }) => Source === 'own')
    .map(({ IP }) => IP)
    .toSorted()
    .join(' ')
