import { queryOptions, useQuery } from '@tanstack/react-query'
import { apiFetch } from '../api.ts'
import { systemStatusQuery } from '../shell/system-status.ts'
import { apiBase, type Realm } from './realm.ts'

/** Single sign-on that is configured, in the order in which Enter prefers it. */
export type SsoWay = 'saml' | 'oidc'

/** What a login page offers beside name and password: empty, [saml], [oidc] or both. */
export const ssoWaysQuery = (realm: Realm) =>
  queryOptions({
    queryKey: ['ssoWays', realm],
    queryFn: async ({ client }): Promise<readonly SsoWay[]> => {
      const status = await client.fetchQuery({ ...systemStatusQuery, staleTime: 10_000 })
      const [saml, oidc] =
        realm === 'user' ? [status.SAML, status.OIDC] : [status.AdminSAML, status.AdminOIDC]
      return [
        // Asked only where the answer can be 200: a browser reports every 404 as an error.
        ...(saml && (await hasMetadata(realm)) ? (['saml'] as const) : []),
        ...(oidc ? (['oidc'] as const) : []),
      ]
    },
    retry: false,
  })

/**
 * The ways of single sign-on of a login page; undefined until they are known, none where the server can't say.
 * SAML counts when its metadata call answers 200 (portal §2), OpenID Connect when system_status names it.
 */
export function useSsoWays(realm: Realm): readonly SsoWay[] | undefined {
  const { data, isError } = useQuery(ssoWaysQuery(realm))
  return isError ? [] : data
}

/** Where the browser goes to sign in; only users have public computers. */
export const ssoAddress = (realm: Realm, way: SsoWay, kioskMode = false): string =>
  `${apiBase[realm]}/login/${way}${realm === 'user' ? `?kioskMode=${kioskMode}` : ''}`

async function hasMetadata(realm: Realm): Promise<boolean> {
  try {
    return (await apiFetch(`${apiBase[realm]}/saml/metadata`)).ok
  } catch {
    return false
  }
}
