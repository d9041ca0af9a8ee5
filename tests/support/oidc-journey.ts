import type { HostileProvider } from './hostile-provider.ts'
import type { OidcClient } from './oidc-provider.ts'
import type { Browser, PeopleApi } from './people-api.ts'

/** The clients of both realms, as the tests' public URL makes their addresses. */
export const oidcClients = {
  user: toClient('portal', ''),
  admin: toClient('console', '/admin'),
} as const

function toClient(clientId: string, prefix: string): OidcClient {
  const base = `https://knoc.example/api${prefix}/oidc`
  return {
    clientId,
    clientSecret: `${clientId} secret`,
    callback: `${base}/callback`,
    backchannel: `${base}/backchannel`,
  }
}

type Realm = keyof typeof oidcClients

/** Enters a provider in the settings of a realm. */
export async function configureOidc(
  { db, deps }: PeopleApi,
  realm: Realm,
  { issuer, clientId, clientSecret }: { issuer: string; clientId: string; clientSecret: string },
): Promise<void> {
  const prefix = realm === 'user' ? 'OIDC' : 'AdminOIDC'
  const place = { table: 'settings', column: 'value', id: `${prefix}ClientSecret` }
  const values = {
    [`${prefix}Issuer`]: issuer,
    [`${prefix}ClientID`]: clientId,
    [`${prefix}ClientSecret`]: clientSecret === '' ? '' : deps.sealer.seal(clientSecret, place),
  }
  for (const [name, text] of Object.entries(values)) {
    const value = JSON.stringify(text)
    await db
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
  }
}

/** Where our server sends a browser that wants to sign in: the authorization request. */
export async function beginOidc(browser: Browser, realm: Realm, query = ''): Promise<URL> {
  const { status, headers } = await browser.get(`${prefixOf(realm)}/login/oidc${query}`)
  const location = headers.get('Location') ?? ''
  if (status !== 302) throw new Error(`no way to the provider: ${status} ${location}`)
  return new URL(location)
}

/** Brings a provider's answer, its parameters in `search`; where the browser goes then. */
export async function finishOidc(browser: Browser, realm: Realm, search: string): Promise<string> {
  const { status, headers } = await browser.get(`${prefixOf(realm)}/oidc/callback${search}`)
  if (status !== 303) throw new Error(`no redirect from the callback: ${status}`)
  return headers.get('Location') ?? ''
}

/** A browser at the provider; it keeps its cookies. */
export type ProviderVisit = {
  /** Follows an authorization request to its end and gives the answer's address; `refuse` presses that button. */
  answer(request: URL, account: string, act?: 'sign-in' | 'refuse'): Promise<URL>
  /** How often it was asked for a name. */
  asked(): number
}

/** Opens one. */
export function visitProvider(): ProviderVisit {
  const jar = new Map<string, string>()
  let asked = 0

  async function go(url: URL, form?: URLSearchParams): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  return {
    asked: () => asked,
    async answer(request, account, act = 'sign-in') {
      let url = request
      for (let hop = 0; hop < 10; hop += 1) {
        const isPage = url.pathname.startsWith('/interaction/')
        if (isPage) asked += 1
        const response = await go(url, isPage ? new URLSearchParams({ account, act }) : undefined)
        const location = response.headers.get('Location')
        if (location === null)
          throw new Error(`the provider stopped: ${response.status} ${await response.text()}`)
        await response.body?.cancel()
        url = new URL(location, url)
        if (url.origin !== request.origin) return url
      }
      throw new Error('the provider goes round in circles')
    },
  }
}

/** The whole way: from the login page to the provider and back; where the browser goes then. */
export async function signInByOidc(
  browser: Browser,
  realm: Realm,
  account: string,
  { query = '', visit = visitProvider() }: { query?: string; visit?: ProviderVisit } = {},
): Promise<string> {
  const answer = await visit.answer(await beginOidc(browser, realm, query), account)
  return finishOidc(browser, realm, answer.search)
}

/** A user's session that a hostile provider vouches for with a right token, in a browser. */
export async function sessionOf(
  hostile: HostileProvider,
  browser: Browser,
  claims: { sub: string; sid: string; preferred_username: string },
): Promise<Browser> {
  const request = await beginOidc(browser, 'user')
  const of = (name: string) => request.searchParams.get(name) ?? ''
  hostile.told.idToken = await hostile.idToken(of('nonce'), { claims })
  hostile.told.userInfo = { sub: claims.sub }
  const end = await finishOidc(
    browser,
    'user',
    `?${new URLSearchParams({ code: 'code', state: of('state') })}`,
  )
  if (end !== '/') throw new Error(`not signed in: ${end}`)
  return browser
}

const prefixOf = (realm: Realm) => (realm === 'user' ? '' : '/admin')
