import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Secret } from '../../platform/secret.ts'
import { discoverProvider } from './discovery.ts'

const metadataPath = '/.well-known/openid-configuration'
const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

/** A provider whose metadata is right unless the test says otherwise; `asked` counts what it answered. */
async function aProvider(metadata: Record<string, unknown> = {}, status = 200) {
  const told = { asked: 0, status, metadata, body: undefined as string | undefined }
  const server = createServer((request, response) => {
    told.asked += 1
    const body = request.url === metadataPath ? { ...usual(), ...told.metadata } : {}
    response.writeHead(told.status, { 'Content-Type': 'application/json', Location: `${issuer}/elsewhere` })
    response.end(told.body ?? JSON.stringify(body))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const usual = () => ({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
  })
  return { told, settings: { issuer, clientId: 'knoc', clientSecret: new Secret('secret') } }
}

const strict = { allowHttp: false }

describe('the discovery of a provider', () => {
  it('is asked for once by everybody who needs it, and used for a while', async () => {
    const { told, settings } = await aProvider()
    const [one, two] = await Promise.all([
      discoverProvider(settings, strict),
      discoverProvider(settings, strict),
    ])
    expect(one).toBe(two)
    expect(await discoverProvider(settings, strict)).toBe(one)
    expect(told.asked).toBe(1)
  })

  it('is asked for anew with another client or secret', async () => {
    const { told, settings } = await aProvider()
    const one = await discoverProvider(settings, strict)
    expect(await discoverProvider({ ...settings, clientId: 'other' }, strict)).not.toBe(one)
    expect(await discoverProvider({ ...settings, clientSecret: new Secret('new') }, strict)).not.toBe(one)
    expect(await discoverProvider({ ...settings, clientSecret: null }, strict)).not.toBe(one)
    expect(told.asked).toBe(4)
  })

  it('that failed is not remembered', async () => {
    const { told, settings } = await aProvider({}, 503)
    await expect(discoverProvider(settings, strict)).rejects.toMatchObject({
      code: 'err.identityProviderUnavailable',
      detail: `${settings.issuer}${metadataPath} answered 503`,
    })
    told.status = 200
    expect((await discoverProvider(settings, strict)).issuer).toBe(settings.issuer)
  })

  it('takes the address of the metadata, too', async () => {
    const { settings } = await aProvider()
    const { issuer } = await discoverProvider(
      { ...settings, issuer: `${settings.issuer}${metadataPath}` },
      strict,
    )
    expect(issuer).toBe(settings.issuer)
  })

  it.each([
    ['of another issuer', { issuer: 'https://other.example' }, /issuer/],
    ['without a token endpoint', { token_endpoint: undefined }, /no token_endpoint/],
    ['without keys', { jwks_uri: undefined }, /no jwks_uri/],
    ['with keys at no address', { jwks_uri: 'keys' }, /no jwks_uri/],
  ])('is refused that is %s', async (_, metadata, detail) => {
    const { settings } = await aProvider(metadata)
    const code = 'err.identityProviderUnavailable'
    await expect(discoverProvider(settings, strict)).rejects.toMatchObject({
      code,
      detail: expect.stringMatching(detail),
    })
  })

  it.each([
    ['leads elsewhere', 302, undefined, /status|conform/],
    ['is not there', 404, undefined, /status|conform/],
    ['is no JSON', 200, 'hello', /JSON|parse/i],
    ['has no end', 200, ' '.repeat(600_000), /too much/],
  ])('is refused that %s', async (_, status, body, detail) => {
    const { told, settings } = await aProvider({}, status)
    told.body = body
    await expect(discoverProvider(settings, strict)).rejects.toMatchObject({
      detail: expect.stringMatching(detail),
    })
    expect(told.asked).toBe(1)
  })

  it.each([
    ['no address', 'the provider', /no address/],
    ['plain http on another host', 'http://idp.example', /plain http/],
  ])('is refused for an issuer that is %s', async (_, issuer, detail) => {
    const settings = { issuer, clientId: 'knoc', clientSecret: null }
    await expect(discoverProvider(settings, strict)).rejects.toMatchObject({
      detail: expect.stringMatching(detail),
    })
  })

  it('believes no symmetric signature, and none at all, whatever the provider announces', async () => {
    const { settings } = await aProvider({
      id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256', 'ES256', 'HS512'],
    })
    expect((await discoverProvider(settings, strict)).algorithms).toEqual(['RS256', 'ES256'])
  })

  it.each([
    [undefined, 'openid profile email'],
    [['openid'], 'openid'],
    [['openid', 'groups', 'email', 'address'], 'openid email groups'],
  ])('asks for scopes that the provider has: %j', async (supported, scope) => {
    const { settings } = await aProvider({ scopes_supported: supported })
    expect((await discoverProvider(settings, strict)).scope).toBe(scope)
  })
})
