import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { buildWeb } from '#tests/support/browser-build.ts'
import { testDatabase } from '#tests/support/database.ts'
import { startProgram } from '#tests/support/process.ts'
import { toDatabaseUrl } from '#tests/support/running-server.ts'
import { type SamlIdp, startSamlIdp } from '#tests/support/saml-idp.ts'
import { startTlsFront } from '#tests/support/tls-front.ts'
import { type ApiClient, createApiClient } from '../../deploy/demo/api-client.ts'
import { heading } from './acts.ts'
import { journeyTime, patience } from './patience.ts'

const password = 'a password of tests 1'

/** A page that goes on by itself is not waited for. */
const passing = { waitUntil: 'commit' } as const

/**
 * The portal on https://localhost, identity provider and attacker on http://127.0.0.1: other sites for a browser, so
 * that its own rules about cookies decide. The server runs by its launcher, with the rights that customers give it.
 */
describe.skipIf(!hasBrowser())('SAML in the browser, over https', { timeout: journeyTime, retry: 1 }, () => {
  const undo: (() => Promise<unknown>)[] = []
  let browser: TestBrowser
  let idp: SamlIdp
  let origin: string
  let console_: ApiClient

  beforeAll(async () => {
    await buildWeb()
    const front = await startTlsFront()
    origin = front.origin
    undo.push(front.stop)
    const database = await testDatabase({ max: 2 })
    undo.push(database.drop)
    const folder = await mkdtemp(join(tmpdir(), 'knoc-saml-'))
    undo.push(() => rm(folder, { recursive: true, force: true }))
    const port = await freePort()
    const launcher = fileURLToPath(new URL('../../server/knoc.mjs', import.meta.url))
    const server = startProgram(['node', launcher, 'serve'], {
      KNOC_DATA_DIR: folder,
      KNOC_HOST: '127.0.0.1',
      KNOC_PORT: String(port),
      KNOC_PUBLIC_URL: origin,
      KNOC_ADMIN_USERNAME: 'root',
      KNOC_ADMIN_PASSWORD: password,
      KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATABASE_URL: toDatabaseUrl(database.connection),
      REDIS_URL: '',
    })
    undo.push(server.stop)
    await server.said(/^Knoc is ready/, 90_000)
    front.pointTo(port)
    idp = await startSamlIdp()
    undo.push(idp.stop)
    console_ = createApiClient(`http://127.0.0.1:${port}`)
    await console_.request('POST', '/admin/login', { UserName: 'root', Password: password })
    await console_.request('POST', '/admin/settings/authentication', {
      SAMLMetadataURL: idp.metadataUrl,
      AdminSAMLMetadataURL: idp.metadataUrl,
    })
    browser = await startBrowser()
    undo.push(browser.close)
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    for (const step of undo.toReversed()) await step()
  }, 60_000)

  async function visit(): Promise<Visitor> {
    const visitor = await browser.visit(origin, { ignoreHTTPSErrors: true })
    visitor.context.setDefaultTimeout(patience)
    visitor.expectFault(/favicon\.ico/)
    // Browsers take no service worker from a certificate of our own making, whatever a context says.
    visitor.expectFault(/SSL certificate error occurred when fetching the script/)
    // A page that is left behind hears that its session was replaced.
    visitor.expectFault(/^console \/api\/(status|events)\b.*\b409\b/)
    return visitor
  }

  const cookieOf = async ({ context }: Visitor, name: string) =>
    (await context.cookies(origin)).find((cookie) => cookie.name === name)

  it('signs a user in, there and back; only the cookie that must cross sites may', async () => {
    idp.state.person = { name: 'ada@example.com', attributes: { realName: 'Ada Lovelace' } }
    const visitor = await visit()
    const { page } = visitor
    await page.goto('/')
    await page.getByRole('button', { name: 'Sign in with SSO' }).click()
    await page.waitForURL('**/home/new')
    await heading(page, 'Hello, Ada Lovelace').waitFor()
    expect(await cookieOf(visitor, '__Host-knoc_prelogin')).toMatchObject({
      sameSite: 'None',
      secure: true,
      httpOnly: true,
    })
    expect(await cookieOf(visitor, '__Host-knoc_user')).toMatchObject({
      sameSite: 'Lax',
      secure: true,
      httpOnly: true,
    })
    await page.reload()
    await heading(page, 'Hello, Ada Lovelace').waitFor()
    await visitor.leave()
  })

  it('signs an administrator in', async () => {
    await console_.request('POST', '/admin/admins', {
      Name: 'Grace',
      UserName: 'grace@example.com',
      AuthType: 'SAML',
    })
    idp.state.person = { name: 'grace@example.com', attributes: { realName: 'Grace Hopper' } }
    const visitor = await visit()
    const { page } = visitor
    await page.goto('/admin/login')
    await page.getByRole('button', { name: 'Sign in with SSO' }).click()
    await page.waitForURL('**/admin/home')
    await heading(page, 'Home').waitFor()
    await page.getByRole('button', { name: 'Account of Grace Hopper' }).waitFor()
    expect(await cookieOf(visitor, '__Host-knoc_admin')).toMatchObject({ sameSite: 'Lax', secure: true })
    await visitor.leave()
  })

  it('gives the second who signs in the browser, and ends the session of the first', async () => {
    idp.state.person = { name: 'first@example.com', attributes: { realName: 'First' } }
    const visitor = await visit()
    const { page } = visitor
    await page.goto('/api/login/saml', passing)
    await heading(page, 'Hello, First').waitFor()
    const before = await cookieOf(visitor, '__Host-knoc_user')
    idp.state.person = { name: 'second@example.com', attributes: { realName: 'Second' } }
    await page.goto('/api/login/saml', passing)
    await heading(page, 'Hello, Second').waitFor()

    const old = await visit()
    await old.context.addCookies([
      { name: '__Host-knoc_user', value: before?.value ?? '', url: origin, secure: true, httpOnly: true },
    ])
    expect((await old.context.request.get('/api/status')).status()).toBe(401)
    await old.leave()
    await visitor.leave()
  })

  it('keeps a public computer’s session short and out of the browser’s memory', async () => {
    idp.state.person = { name: 'kiosk@example.com', attributes: { realName: 'Kim' } }
    const visitor = await visit()
    const { page } = visitor
    await page.goto('/')
    await page.getByLabel('This is a public computer').check()
    await page.getByRole('button', { name: 'Sign in with SSO' }).click()
    await heading(page, 'Hello, Kim').waitFor()
    expect(idp.state.seen.at(-1)).toMatchObject({ forceAuthn: true, relayState: 'kioskMode=true' })
    expect((await cookieOf(visitor, '__Host-knoc_user'))?.expires).toBe(-1)
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
    await visitor.leave()
  })

  it('signs requests and opens what is encrypted, with the key pair that the console made', async () => {
    const { Certificate } = await console_.request<{ Certificate: string }>(
      'POST',
      '/admin/settings/generateUserSamlKeyCert',
      {},
    )
    Object.assign(idp.state, { requestsSignedBy: Certificate, encryptFor: Certificate })
    idp.state.person = { name: 'lin@example.com', attributes: { realName: 'Lin' } }
    const visitor = await visit()
    const { page } = visitor
    await page.goto('/')
    await page.getByRole('button', { name: 'Sign in with SSO' }).click()
    await heading(page, 'Hello, Lin').waitFor()
    Object.assign(idp.state, { requestsSignedBy: undefined, encryptFor: undefined })
    await visitor.leave()
  })

  it('does not let another site sign a visitor in as somebody else', async () => {
    idp.state.person = { name: 'mallory@example.com', attributes: { realName: 'Mallory' } }
    const mallory = await visit()
    // Mallory keeps the answer to himself, to give it to somebody else.
    const answer = { SAMLResponse: '', RelayState: '' }
    await mallory.page.route('**/api/saml/acs', async (route) => {
      const form = new URLSearchParams(route.request().postData() ?? '')
      for (const name of ['SAMLResponse', 'RelayState'] as const) answer[name] = form.get(name) ?? ''
      await route.fulfill({ status: 200, body: 'held back' })
    })
    await mallory.page.goto('/api/login/saml', passing)
    await mallory.page.getByText('held back').waitFor()
    expect(answer.SAMLResponse).not.toBe('')

    const trap = await startTrap(`${origin}/api/saml/acs`, answer)
    const victim = await visit()
    for (const hasAsked of [false, true]) {
      // An own request of this browser, not answered yet: the cookie alone is not what an answer needs.
      if (hasAsked) await victim.context.request.get('/api/login/saml', { maxRedirects: 0 })
      expect((await cookieOf(victim, '__Host-knoc_prelogin')) !== undefined).toBe(hasAsked)
      await victim.page.goto(trap.url, passing)
      await victim.page.waitForURL('**/?error=err.authenticationFailed')
      await victim.page.getByText('Error: Authentication failed').waitFor()
      expect(await cookieOf(victim, '__Host-knoc_user')).toBeUndefined()
    }
    await trap.stop()

    // In the browser that asked for it, the same answer is good.
    await mallory.page.unroute('**/api/saml/acs')
    const own = await startTrap(`${origin}/api/saml/acs`, answer)
    await mallory.page.goto(own.url, passing)
    await heading(mallory.page, 'Hello, Mallory').waitFor()
    await own.stop()
    await mallory.leave()
    await victim.leave()
  })

  it('says so when the identity provider can’t be reached', async () => {
    await console_.request('POST', '/admin/settings/authentication', {
      SAMLMetadataURL: '',
      SAMLMetadataFile: (await idp.metadata()).replaceAll(idp.url, 'http://127.0.0.1:1'),
    })
    const visitor = await visit()
    visitor.expectFault(/127\.0\.0\.1:1/)
    await visitor.page.goto('/')
    await visitor.page.getByRole('button', { name: 'Sign in with SSO' }).click()
    await visitor.page.waitForURL(/127\.0\.0\.1:1|chrome-error/)
    await visitor.page.goto('/')
    await visitor.page.getByRole('button', { name: 'Sign in with SSO' }).waitFor()
    await visitor.leave()
  })
})

/** A page of another site that posts a form by itself. */
async function startTrap(action: string, fields: Record<string, string>) {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`)
  const page = `<form method="post" action="${action}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(page))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
