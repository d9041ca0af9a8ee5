import type { z } from 'zod'
import type { loginSchema, userPasswordSchema } from '#server/auth/auth.schema.ts'
import type { GrantAnswer, GrantRequest } from '#server/grants/grant.schema.ts'
import type { UserStatus } from '#server/status/status.schema.ts'
import { request, unwrap } from '../api.ts'
import { client } from '../client.ts'

/** What every read takes: the query's signal, which ends the request when nobody waits for it any more. */
type Reading = { signal?: AbortSignal | undefined }

/** The portal's calls, one named function each. Portal §7. */
export const login = (json: z.input<typeof loginSchema>): Promise<null> =>
  unwrap(client.login.$post({ json }))

export const logout = ({ signal }: Reading = {}): Promise<null> =>
  unwrap(client.logout.$post({}, signal ? { init: { signal } } : {}))

/** The status as it stands; moves nothing. */
export const fetchStatus = ({ signal }: Reading = {}): Promise<UserStatus> =>
  unwrap(client.status.$get({}, signal ? { init: { signal } } : {}))

/** The page's own re-validation: access follows to the address it comes from (decision 14). */
export const revalidate = ({ signal }: Reading = {}): Promise<UserStatus> =>
  unwrap(
    client.status.$get(
      { query: { revalidate: '1' } },
      { headers: { 'X-Knoc-Revalidate': '1' }, ...(signal && { init: { signal } }) },
    ),
  )

export const grant = (json: GrantRequest): Promise<GrantAnswer> => unwrap(client.grant.$post({ json }))

export const revoke = (aclId: string): Promise<GrantAnswer> =>
  unwrap(client.sessions.current['granted-acls'][':aclId'].$delete({ param: { aclId } }))

/** Ties addresses that the lookup saw to the session; one that it didn't see is err.addressNotSeen, and nothing changes. */
export const logIps = (IPs: GrantRequest['IPs']): Promise<null> =>
  request('POST', '/api/log_ips', { body: { IPs } })

export const changePassword = (json: z.input<typeof userPasswordSchema>): Promise<null> =>
  unwrap(client.password.$put({ json }))

/** Signs in again within the session: a new one begins, and takes over what the old one held open. */
export const extendSession = (body: { Password: string; Code?: string }): Promise<null> =>
  request('POST', '/api/sessions/current/extend', { body })
