import { useQuery } from '@tanstack/react-query'
import { queries } from '../admin-queries.ts'
import type { VersionPolicy } from './agent-version.ts'

/** What the server asks of agents' versions; undefined until the status is there. */
export function useVersionPolicy(): VersionPolicy | undefined {
  const { data } = useQuery(queries.status)
  return (
    data && {
      minimum: data.MinimumRequiredAgentVersion.version,
      available: data.AvailableAgentVersions,
    }
  )
}
