import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Theme } from '../status/status.schema.ts'
import { pageRoutes } from './page.routes.ts'
import { readPageFiles } from './page-files.ts'
import { firstPages } from './page-preloads.ts'

const long = 'a line of a long file\n'.repeat(200)

const built = {
  'assets/long.js': long,
  'index.html': 'portal',
  'admin.html': 'console',
  'sw.js': 'worker',
  'manifest.webmanifest': '{}',
  'bundle-hash.txt': 'aa11\n',
  'assets/main-new.js': 'new',
  'assets/both.js': 'new both',
  'previous/bundle-hash.txt': 'bb22\n',
  'previous/assets/main-old.js': 'old',
  'previous/assets/both.js': 'old both',
  'previous/index.html': 'old portal',
  '.vite/manifest.json': '{}',
}
const theme: Theme = { Accent: 'grape', HighAccessibility: false, Logo: null, LightModeLogo: null }
const looks = { theme: async () => theme, hasUserCookie: () => true }
const forEver = 'public, max-age=31536000, immutable'

describe('the pages', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'knoc-pages-'))
    for (const [name, content] of Object.entries(built)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), content)
    }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function get(path: string, options?: { serviceWorker: boolean }) {
    const response = await pageRoutes(await readPageFiles(folder, options), looks).request(path)
    return {
      status: response.status,
      text: await response.text(),
      cache: response.headers.get('Cache-Control'),
      type: response.headers.get('Content-Type'),
    }
  }

  it('serves the release’s own hashed files and those of the release before, for ever', async () => {
    expect(await get('/assets/main-new.js')).toMatchObject({ status: 200, text: 'new', cache: forEver })
    expect(await get('/assets/main-old.js')).toMatchObject({ status: 200, text: 'old', cache: forEver })
    expect((await get('/assets/both.js')).text).toBe('new both')
  })

  it('is of one release all the same: its own hash, and no page of the one before', async () => {
    expect((await readPageFiles(folder)).bundleHash).toBe('aa11')
    expect((await get('/bundle-hash.txt')).text).toBe('aa11\n')
    for (const path of ['/previous/index.html', '/previous/assets/main-old.js', '/.vite/manifest.json'])
      expect(await get(path), path).toMatchObject({ status: 404, cache: 'no-store' })
  })

  it('has HTML, sw.js and the manifest asked for anew each time', async () => {
    for (const path of ['/', '/home/new', '/admin/knocs', '/index.html', '/sw.js', '/manifest.webmanifest'])
      expect(await get(path), path).toMatchObject({ status: 200, cache: 'no-cache' })
    expect((await get('/admin/knocs')).text).toBe('console')
    expect((await get('/administration')).text).toBe('portal')
    expect((await get('/manifest.webmanifest')).type).toBe('application/manifest+json')
    expect((await get('/sw.js')).type).toContain('text/javascript')
  })

  it('says that a file is missing, and lets nobody remember it', async () => {
    expect(await get('/assets/main-older.js')).toMatchObject({ status: 404, cache: 'no-store' })
  })

  it('packs text for browsers that take it, under the same name', async () => {
    const routes = pageRoutes(await readPageFiles(folder), looks)
    const ask = (accepted?: string, path = '/assets/long.js') =>
      routes.request(path, { headers: accepted === undefined ? {} : { 'Accept-Encoding': accepted } })
    const packed = await ask('br;q=1, gzip;q=0.8')
    expect(Object.fromEntries(packed.headers)).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
    })
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(long)
    for (const accepted of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000, br']) {
      const plain = await ask(accepted)
      expect(plain.headers.get('Content-Encoding'), accepted).toBeNull()
      expect(plain.headers.get('Vary')).toBe('Accept-Encoding')
      expect(await plain.text()).toBe(long)
    }
    const etag = packed.headers.get('ETag') ?? ''
    const again = await routes.request('/assets/long.js', { headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
    expect((await ask('gzip', '/index.html')).headers.get('Content-Encoding')).toBeNull()
  })

  it('takes the service worker back with KNOC_SERVICE_WORKER=off', async () => {
    expect((await get('/sw.js')).text).toBe('worker')
    const { text, cache } = await get('/sw.js', { serviceWorker: false })
    expect(text).toContain('self.registration.unregister()')
    expect(text).not.toContain("addEventListener('fetch'")
    expect(cache).toBe('no-cache')
  })

  describe('carry what the server knows of the first look', () => {
    const page =
      '<html lang="en-AU" data-accent="grape" data-contrast="normal" data-mode="light"><head></head></html>'
    const chunk = (file: string, ...imports: string[]) => ({ file, imports })
    const manifest = {
      'index.html': chunk('assets/main.js', '_shared.js'),
      '_shared.js': chunk('assets/shared.js'),
      '_parts.js': chunk('assets/parts.js', '_shared.js'),
      'portal/login-page.tsx': chunk('assets/login.js', 'index.html'),
      'portal/home-page.tsx': chunk('assets/home.js', '_parts.js', '_shared.js'),
    }
    let look: string
    beforeAll(async () => {
      look = await mkdtemp(join(tmpdir(), 'knoc-pages-'))
      await mkdir(join(look, '.vite'))
      await writeFile(join(look, '.vite/manifest.json'), JSON.stringify(manifest))
      await writeFile(join(look, 'index.html'), page)
      await writeFile(join(look, 'admin.html'), page)
    })
    afterAll(() => rm(look, { recursive: true, force: true }))

    async function ask(path: string, { hasCookie = true, current = theme, etag = '' } = {}) {
      const made = pageRoutes(await readPageFiles(look), {
        theme: async () => current,
        hasUserCookie: () => hasCookie,
      })
      const response = await made.request(path, { headers: { 'If-None-Match': etag } })
      const html = await response.text()
      const links = [...html.matchAll(/<link rel="modulepreload" crossorigin href="([^"]*)">/g)]
      return { response, html, links: links.map(([, href]) => href) }
    }

    it('the installation’s accent, contrast and logos, and nothing of them as markup', async () => {
      const current = { ...theme, Accent: 'teal' as const, HighAccessibility: true, Logo: '/x"><b>' }
      const { html } = await ask('/home/new', { current })
      expect(html).toContain(
        '<html lang="en-AU" data-mode="light" data-accent="teal" data-contrast="high" data-logo="/x&#34;&#62;&#60;b&#62;" data-light-logo="">',
      )
    })

    it('that nobody is signed in, only in the portal and only without a session’s cookie', async () => {
      expect((await ask('/', { hasCookie: false })).html).toContain(' data-session="none"')
      expect((await ask('/')).html).not.toContain('data-session')
      expect((await ask('/admin', { hasCookie: false })).html).not.toContain('data-session')
    })

    it('the files of the address’s page, for who isn’t signed in those of the login', async () => {
      expect((await ask('/home/new')).links).toEqual(['/assets/home.js', '/assets/parts.js'])
      expect((await ask('/home/new', { hasCookie: false })).links).toEqual(['/assets/login.js'])
      expect((await ask('/admin')).links).toEqual([])
    })

    it('and have a name by what was sent', async () => {
      const { response } = await ask('/')
      const etag = response.headers.get('ETag') ?? ''
      expect(response.headers.get('Vary')).toBe('Accept-Encoding, Cookie')
      expect((await ask('/', { etag })).response.status).toBe(304)
      expect((await ask('/', { etag, hasCookie: false })).response.status).toBe(200)
      expect((await ask('/', { etag, current: { ...theme, Accent: 'rose' } })).response.status).toBe(200)
    })

    it('each address’s page is a file of the sources', async () => {
      for (const [, source] of firstPages) await access(new URL(`../../web/${source}`, import.meta.url))
    })
  })
})
