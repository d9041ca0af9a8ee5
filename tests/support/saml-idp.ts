import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import samlp from 'samlp'
import { createKeyPair, type KeyPair } from '#server/auth/saml/key-pair.ts'
import type { Realm } from '#server/sessions/session-cookie.ts'
import type { Browser, PeopleApi } from './people-api.ts'

/** Attributes as an identity provider's administrator maps them. */
type Attributes = Record<string, string | number | readonly string[] | undefined>

/** Our service provider, as the tests configure it at the identity provider. */
export const ours = (realm: Realm, origin = 'https://knoc.example') => {
  const base = `${origin}/api${realm === 'admin' ? '/admin' : ''}/saml`
  return { entityId: `${base}/metadata`, acs: `${base}/acs` }
}

/** An identity provider that isn't ours: npm `samlp` over HTTP, where somebody is signed in already. */
export type SamlIdp = Awaited<ReturnType<typeof startSamlIdp>>

/** Starts it. What is set on `state` holds from the next request on. */
export async function startSamlIdp() {
  const keys = await createKeyPair('idp.example')
  const entityId = 'urn:test:idp'
  const state = {
    person: { name: 'ada@example.com', attributes: {} as Attributes },
    signsResponse: true,
    signsAssertion: true,
    algorithms: { signatureAlgorithm: 'rsa-sha256', digestAlgorithm: 'sha256' },
    /** Certificate to encrypt assertions for. */
    encryptFor: undefined as string | undefined,
    encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    /** Certificate that requests must be signed with. */
    requestsSignedBy: undefined as string | undefined,
    isDown: false,
    /** Requests it was asked with. */
    seen: [] as { id: string; issuer: string; forceAuthn: boolean; relayState: string }[],
  }
  const server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function answer(request: IncomingMessage, plain: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const response = withExpressWords(plain)
    const asked = Object.assign(request, {
      query: Object.fromEntries(searchParams),
      originalUrl: request.url ?? '/',
      protocol: 'http',
    })
    const fail = (error: unknown) => response.writeHead(400).end(String(error))
    if (state.isDown) response.writeHead(503).end()
    else if (pathname === '/metadata') metadata(asked, response, fail)
    else if (pathname === '/sso') signIn(asked, response, fail)
    else response.writeHead(404).end()
  }

  const metadata = samlp.metadata({
    issuer: entityId,
    cert: keys.certificate,
    redirectEndpointPath: '/sso',
    postEndpointPath: '/sso',
  })

  const signIn: ReturnType<typeof samlp.auth> = (asked, response, fail) => {
    const signing = state.requestsSignedBy && { signingCert: bare(state.requestsSignedBy) }
    samlp.parseRequest(asked, {}, (error, request) => {
      if (error || request === undefined) return fail(error)
      const { id, issuer, forceAuthn } = request
      if (signing && asked.query.Signature === undefined) return fail('the request is not signed')
      const { acs } = ours(issuer.includes('/admin/') ? 'admin' : 'user', new URL(issuer).origin)
      state.seen.push({
        id,
        issuer,
        forceAuthn: forceAuthn === 'true',
        relayState: asked.query.RelayState ?? '',
      })
      samlp.auth({ ...toOptions(acs), ...signing })(asked, response, fail)
    })
  }

  const toOptions = (acs: string) => ({
    issuer: entityId,
    key: keys.key,
    cert: keys.certificate,
    destination: acs,
    recipient: acs,
    lifetimeInSeconds: 300,
    signResponse: state.signsResponse,
    signAssertion: state.signsAssertion,
    ...state.algorithms,
    ...(state.encryptFor && {
      encryptionCert: state.encryptFor,
      encryptionPublicKey: state.encryptFor,
      encryptionAlgorithm: state.encryptionAlgorithm,
      // AES-CBC, as many providers still do.
      disallowEncryptionWithInsecureAlgorithm: false,
      warnOnInsecureEncryptionAlgorithm: false,
    }),
    getPostURL: (...[, , , callback]: [unknown, unknown, unknown, (error: null, url: string) => void]) =>
      callback(null, acs),
    getUserFromRequest: () => state.person,
    profileMapper: Object.assign(
      ({ name, attributes }: typeof state.person) => ({
        getClaims: () => attributes,
        getNameIdentifier: () => ({ nameIdentifier: name }),
      }),
      { prototype: { metadata: [] } },
    ),
  })

  return {
    url,
    metadataUrl: `${url}/metadata`,
    metadata: async () => (await fetch(`${url}/metadata`)).text(),
    entityId,
    keys,
    state,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Writes a realm's SAML settings down, the key sealed, as the console does. */
export async function setSaml(
  api: Pick<PeopleApi, 'db' | 'deps'>,
  realm: Realm,
  fields: { metadataUrl?: string; metadataFile?: string; keyPair?: KeyPair },
): Promise<void> {
  const prefix = realm === 'admin' ? 'AdminSAML' : 'SAML'
  const place = { table: 'settings', column: 'value', id: `${prefix}KeyFile` }
  const values = {
    MetadataURL: fields.metadataUrl ?? '',
    MetadataFile: fields.metadataFile ?? '',
    KeyFile: fields.keyPair === undefined ? '' : api.deps.sealer.seal(fields.keyPair.key, place),
    CertFile: fields.keyPair?.certificate ?? '',
  }
  for (const [name, value] of Object.entries(values))
    await api.db
      .insertInto('settings')
      .values({ name: `${prefix}${name}`, value: JSON.stringify(value) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: JSON.stringify(value) }))
      .execute()
}

/** What the identity provider's page posts to us by itself. */
export type SamlForm = { action: string; SAMLResponse: string; RelayState: string }

/** Goes to the identity provider, as the button of the sign-in page does, and brings its form back unsent. */
export async function askIdp(browser: Browser, realm: Realm = 'user', query = ''): Promise<SamlForm> {
  const { status, headers } = await browser.get(`${prefixOf(realm)}/login/saml${query}`)
  if (status !== 302) throw new Error(`not sent away: ${status} ${headers.get('Location')}`)
  const page = await fetch(headers.get('Location') ?? '')
  const html = await page.text()
  if (!page.ok) throw new Error(`refused by the identity provider: ${html}`)
  const fieldOf = (name: string) =>
    new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(html)?.[1]?.replaceAll('&#61;', '=') ?? ''
  const action = /action="([^"]*)"/.exec(html)?.[1] ?? ''
  return { action, SAMLResponse: fieldOf('SAMLResponse'), RelayState: fieldOf('RelayState') }
}

/** Posts a form to our consumer, as a page of another site does. */
export async function sendForm(
  browser: Browser,
  form: Partial<Omit<SamlForm, 'action'>>,
  realm: Realm = 'user',
): Promise<{ status: number; location: string }> {
  const { status, headers } = await browser.raw(
    'POST',
    `${prefixOf(realm)}/saml/acs`,
    new URLSearchParams({
      ...(form.SAMLResponse !== undefined && { SAMLResponse: form.SAMLResponse }),
      ...(form.RelayState !== undefined && { RelayState: form.RelayState }),
    }).toString(),
    { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'http://idp.example' },
  )
  return { status, location: headers.get('Location') ?? '' }
}

const prefixOf = (realm: Realm) => (realm === 'admin' ? '/admin' : '')

/** A certificate as metadata and messages carry it. */
export const bare = (pem: string) => pem.replace(/-----[A-Z ]+-----|\s/g, '')

function withExpressWords(response: ServerResponse) {
  return Object.assign(response, {
    set: (name: string, value: string) => void response.setHeader(name, value),
    send: (body: unknown) => {
      if (typeof body === 'number') response.writeHead(body).end()
      else response.end(String(body))
    },
  })
}
