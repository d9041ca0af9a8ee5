import { queryOptions } from '@tanstack/react-query'
import type { SystemStatus } from '#server/status/status.schema.ts'
import { unwrap } from '../api.ts'
import { client } from '../client.ts'

/** Bundle hash, ways to sign in, lookup service: public. One request, whoever asks at the same time. */
export const systemStatusQuery = queryOptions({
  queryKey: ['systemStatus'],
  queryFn: (): Promise<SystemStatus> => unwrap(client.system_status.$get()),
  retry: false,
})
