import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { buildWeb } from '#tests/support/browser-build.ts'
import { testDatabase } from '#tests/support/database.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { freePort } from '#tests/support/redis.ts'
import { startServerProcess, toDatabaseUrl } from '#tests/support/running-server.ts'
import { findBarriers } from './accessibility.ts'
import { heading } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

/** Issue 4 "installable as a PWA", decision 35: the worker keeps hashed files only. */
describe.skipIf(!hasBrowser())('the portal as an app', { timeout: journeyTime, retry: 1 }, () => {
  let browser: TestBrowser
  let database: Awaited<ReturnType<typeof testDatabase>>
  let folder: string
  let url: string
  let server: TestProcess | undefined

  beforeAll(async () => {
    await buildWeb()
    folder = await mkdtemp(join(tmpdir(), 'knoc-pwa-'))
    database = await testDatabase({ max: 2 })
    url = `http://localhost:${await freePort()}`
    browser = await startBrowser()
    await serve()
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await database?.drop()
    if (folder) await rm(folder, { recursive: true, force: true })
  }, 60_000)

  /** Starts the server, again and with other settings if it runs. */
  async function serve(env: Record<string, string> = {}): Promise<void> {
    await server?.stop()
    server = await startServerProcess({
      place: (command) => command,
      env: {
        KNOC_DATA_DIR: folder,
        KNOC_HOST: 'localhost',
        KNOC_PORT: new URL(url).port,
        KNOC_PUBLIC_URL: url,
        KNOC_ADMIN_USERNAME: 'root',
        KNOC_ADMIN_PASSWORD: 'a password of tests 1',
        KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        DATABASE_URL: toDatabaseUrl(database.connection),
        ...env,
      },
    })
  }

  async function visit(): Promise<Visitor> {
    const visitor = await browser.visit(url)
    visitor.context.setDefaultTimeout(patience)
    visitor.expectFault(/ERR_(CONNECTION_REFUSED|FAILED|EMPTY_RESPONSE|CONNECTION_RESET)|\b503\b/)
    return visitor
  }

  const atLogin = (page: Page) => heading(page, 'Sign in').waitFor()
  const isControlled = (page: Page) => page.evaluate(() => navigator.serviceWorker.controller !== null)
  const registrations = (page: Page) =>
    page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)
  /** Every address in every cache of the page's origin. */
  const cached = (page: Page) =>
    page.evaluate(async () => {
      const found: string[] = []
      for (const name of await caches.keys())
        for (const { url: address } of await (await caches.open(name)).keys())
          found.push(new URL(address).pathname)
      return found
    })

  /** Opens the portal with the worker in charge and its files kept. */
  async function install(page: Page): Promise<void> {
    await page.goto('/')
    await atLogin(page)
    await eventually(() => isControlled(page)).toBe(true)
    await page.reload()
    await atLogin(page)
    await eventually(async () => (await cached(page)).length).toBeGreaterThan(3)
  }

  it('has a manifest that browsers take: name, icons, colours, start_url, display, id', async () => {
    const { page, context, leave } = await visit()
    await install(page)
    const devtools = await context.newCDPSession(page)
    const { errors, data } = await devtools.send('Page.getAppManifest')
    expect(errors).toEqual([])
    expect(JSON.parse(data ?? '')).toMatchObject({
      id: '/',
      name: 'Knoc',
      short_name: 'Knoc',
      start_url: '/',
      display: 'standalone',
    })
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
    // A profile that is thrown away can't install anything.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual(
      [],
    )
    for (const { src, sizes } of (JSON.parse(data ?? '') as { icons: { src: string; sizes: string }[] })
      .icons) {
      const size = await page.evaluate(async (address) => {
        const { width, height } = await createImageBitmap(await (await fetch(address)).blob())
        return `${width}x${height}`
      }, src)
      expect(size, src).toBe(sizes)
    }
    await leave()
  })

  it('caches only hashed files: never HTML or /api', async () => {
    const { page, leave } = await visit()
    await install(page)
    const paths = await cached(page)
    expect(paths.filter((path) => !path.startsWith('/assets/'))).toEqual([])
    expect(paths.some((path) => path.endsWith('.css'))).toBe(true)
    // What is kept doesn't go to the server again.
    const asked: string[] = []
    page.on('response', (response) => {
      if (!response.fromServiceWorker()) asked.push(new URL(response.url()).pathname)
    })
    await page.reload()
    await atLogin(page)
    expect(asked.filter((path) => path.startsWith('/assets/'))).toEqual([])
    await leave()
  })

  it('navigations go to the network: without one a page says so, and stale HTML never shows', async () => {
    const { page, leave } = await visit()
    await install(page)
    await server?.stop()
    for (const path of ['/', '/home/new', '/admin/login']) {
      const response = await page.goto(path)
      expect(response?.status(), path).toBe(503)
      await heading(page, 'The server can’t be reached').waitFor()
    }
    expect(await findBarriers(page)).toEqual([])
    await page.goto('/')
    await serve()
    await page.getByRole('link', { name: 'Try again' }).click()
    await atLogin(page)
    await leave()
  })

  it('deletes the caches of older releases', async () => {
    const { page, leave } = await visit()
    // The console shares the caches and registers no worker: none is here, or on its way, before the portal is opened.
    await page.goto('/admin/login')
    await heading(page, 'Admin login').waitFor()
    await page.evaluate(async () => {
      await (await caches.open('knoc-older')).put('/assets/old.js', new Response('old'))
      await (await caches.open('another')).put('/x', new Response('not ours'))
    })
    await install(page)
    const hash = (await readFile(new URL('../../web/dist/bundle-hash.txt', import.meta.url), 'utf8')).trim()
    await eventually(() => page.evaluate(() => caches.keys())).toEqual(
      expect.not.arrayContaining(['knoc-older']),
    )
    const names = await page.evaluate(() => caches.keys())
    expect(names).toContain('another')
    expect(names.filter((name) => name.startsWith('knoc-'))).toHaveLength(1)
    expect(hash).toMatch(/^[0-9a-f]{32}$/)
    await leave()
  })

  it('costs nothing before the first paint: it is registered after the load', async () => {
    const { page, leave } = await visit()
    await page.addInitScript(() => {
      const workers = navigator.serviceWorker
      const register = workers.register.bind(workers)
      workers.register = (...args) => {
        document.documentElement.dataset['registeredAt'] = document.readyState
        return register(...args)
      }
    })
    await page.goto('/')
    await eventually(() => page.getAttribute('html', 'data-registered-at')).toBe('complete')
    await leave()
  })

  it('the console registers none', async () => {
    const { page, leave } = await visit()
    await page.goto('/admin/login')
    await heading(page, 'Admin login').waitFor()
    await page.waitForLoadState('networkidle')
    expect(await registrations(page)).toBe(0)
    await leave()
  })

  it('KNOC_SERVICE_WORKER=off: the worker takes itself and what it kept away', async () => {
    const { page, leave } = await visit()
    await install(page)
    await serve({ KNOC_SERVICE_WORKER: 'off' })
    await page.reload()
    await eventually(() => cached(page)).toEqual([])
    await eventually(() => registrations(page)).toBe(0)
    await page.reload()
    await atLogin(page)
    expect(await isControlled(page)).toBe(false)
    await leave()
    await serve()
  })
})
