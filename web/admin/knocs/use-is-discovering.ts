import { useQuery } from '@tanstack/react-query'
import { queries } from '../admin-queries.ts'

/** Whether addresses are discovered: without that ‘Open to CGNAT’ does nothing and isn't offered. Console §5. */
export const useIsDiscovering = (): boolean => useQuery(queries.status).data?.DiscoverIP === true
