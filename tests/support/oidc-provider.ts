import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

/** A relying party that the provider knows. */
export type OidcClient = { clientId: string; clientSecret: string; callback: string; backchannel: string }

/** What the provider says of somebody, beside the subject. */
export type OidcPerson = Record<string, unknown>

/** A running OpenID provider that we did not write: npm oidc-provider, with a page that asks for the name only. */
export type OidcProvider = Awaited<ReturnType<typeof startOidcProvider>>

/**
 * Starts it on a loopback port. `claimsIn`: where it tells claims; by the standard in the userinfo alone. `deliver`
 * takes its back-channel requests in place of the network.
 */
export async function startOidcProvider({
  clients,
  claimsIn = 'userinfo',
  deliver = fetch,
  port = 0,
}: {
  clients: readonly OidcClient[]
  claimsIn?: 'userinfo' | 'idToken'
  deliver?: (url: string | URL, init: RequestInit) => Promise<Response>
  port?: number
}) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people = new Map<string, OidcPerson>()
  const failing = new Set<string>()
  const provider = new Provider(issuer, await configure({ clients, claimsIn, deliver, people }))
  const answer = provider.callback()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (failing.has(request.url ?? '')) response.writeHead(503).end()
    else if (request.url?.startsWith('/interaction/') === true) void signIn(provider, request, response)
    else answer(request, response)
  })

  return {
    issuer,
    /** Everybody it knows, by subject. */
    people,
    /** Paths that answer 503. */
    failing,
    /** What it does on its own when somebody signs out there. */
    signOut: async (clientId: string, subject: string, sid: string) =>
      (await provider.Client.find(clientId)).backchannelLogout(subject, sid),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function configure({
  clients,
  claimsIn,
  deliver,
  people,
}: {
  clients: readonly OidcClient[]
  claimsIn: 'userinfo' | 'idToken'
  deliver: (url: string | URL, init: RequestInit) => Promise<Response>
  people: Map<string, OidcPerson>
}): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'provider-1', use: 'sig', alg: 'RS256' }
  return {
    clients: clients.map(({ clientId, clientSecret, callback, backchannel }) => ({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [callback],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      backchannel_logout_uri: backchannel,
      // Without it the provider tells no sid.
      backchannel_logout_session_required: true,
    })),
    jwks: { keys: [key] },
    cookies: { keys: ['tests'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'name', 'realName', 'sessionDuration'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    conformIdTokenClaims: claimsIn === 'userinfo',
    ttl: { Interaction: 600, Grant: 3600, Session: 3600, AccessToken: 600, IdToken: 600 },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource, postLogoutSuccessSource },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => {
      const person = people.get(accountId)
      return person && { accountId, claims: () => ({ sub: accountId, ...person }) }
    },
    loadExistingGrant: grantAll,
    fetch: deliver,
  }
}

type Page = { body: string }

/** In place of the provider's own pages, which load a font from elsewhere. */
function logoutSource(context: Page, form: string): void {
  context.body = `<!doctype html><title>Provider</title>${form}
    <button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>`
}

function postLogoutSuccessSource(context: Page): void {
  context.body = '<!doctype html><title>Provider</title><p>You are signed out</p>'
}

/** Nobody is asked what the client may see: it is the company's own. */
async function grantAll(context: {
  oidc: {
    provider: Provider
    client: { clientId: string }
    session: { accountId: string }
    requestParamScopes: Set<string>
  }
}) {
  const { provider, client, session, requestParamScopes } = context.oidc
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope([...requestParamScopes].join(' '))
  await grant.save()
  return grant
}

/** The provider's own page: a name and a button, and one to refuse. */
async function signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Provider</title><form method="post">
      <label>Account <input name="account" autofocus></label>
      <button name="act" value="sign-in">Sign in</button>
      <button name="act" value="refuse">Refuse</button></form>`)
    return
  }
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const form = new URLSearchParams(body)
  const result =
    form.get('act') === 'refuse'
      ? { error: 'access_denied', error_description: 'the person said no' }
      : { login: { accountId: form.get('account') } }
  await provider.interactionFinished(request, response, result)
}
