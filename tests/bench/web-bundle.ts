import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { heading, signIn } from '#tests/browser/acts.ts'
import type { TestBrowser } from '#tests/support/browser.ts'
import type { WebFigures } from './web.ts'
import type { WebSite } from './web-site.ts'

/** Gzipped JavaScript that a page of the portal asks for until it stands, in bytes at most: all of it counts. */
const budget = 150_000

const dist = new URL('../../web/dist/', import.meta.url)

/** The portal's pages: their file of the sources, and how a browser knows that they stand. */
const pages = {
  login: { source: 'portal/login-page.tsx', path: '/', title: 'Sign in', isSignedIn: false },
  home: { source: 'portal/home-page.tsx', path: '/home/new', title: /^Hello/, isSignedIn: true },
  classic: { source: 'portal/classic-page.tsx', path: '/home', title: /^Hello/, isSignedIn: true },
} as const

/** Vite's list of what it built: files by their source, with what they import. */
type Manifest = Record<string, { file: string; css?: string[]; imports?: string[] }>

/**
 * What the first paint of each page takes: the files that it imports, which the build's manifest names; and all that a
 * browser without a cache has asked for when the page stands, what is loaded ahead of its use included.
 */
export async function measureBundles(browser: TestBrowser, { url, login }: WebSite): Promise<WebFigures> {
  const manifest = JSON.parse(await readFile(new URL('.vite/manifest.json', dist), 'utf8')) as Manifest
  const visitor = await browser.visit(url)
  await signIn(visitor.page, login)
  const cookies = await visitor.context.cookies()
  await visitor.leave()

  const bundle: Record<string, unknown> = { budget }
  const faults: string[] = []
  for (const [name, { source, path, title, isSignedIn }] of Object.entries(pages)) {
    const needed = await sizesOf(filesOf(manifest, ['index.html', source]))
    const javaScript = sum(needed, '.js')
    const largest = Object.fromEntries(needed.slice(0, 4).map(({ file, bytes }) => [basename(file), bytes]))
    const { page, context, leave } = await browser.visit(url)
    if (isSignedIn) await context.addCookies(cookies)
    const responses: Response[] = []
    page.on('response', (response) => responses.push(response))
    await page.addInitScript(noteHeading)
    await page.goto(path, { waitUntil: 'commit' })
    await heading(page, title).waitFor()
    const requested = await page.evaluate(requestedScripts)
    const sizes = await Promise.all(responses.map(scriptSize))
    await leave()
    const asked = sizes.filter(({ url: script }) => requested.includes(script))
    const untilItStands = asked.reduce((total, { bytes }) => total + bytes, 0)
    bundle[name] = {
      javaScript,
      css: sum(needed, '.css'),
      files: needed.length,
      untilItStands,
      requests: asked.length,
      largest,
    }
    const most = Math.max(javaScript, untilItStands)
    if (most > budget)
      faults.push(
        `${name} takes ${most} bytes of JavaScript, ${budget} are allowed: ${JSON.stringify(largest)}`,
      )
    // What the page imports can't be less than what it asked for: else the heading was missed.
    if (untilItStands < javaScript)
      faults.push(`${name} asked for ${untilItStands} bytes of JavaScript and imports ${javaScript}`)
  }
  return { figures: { bundle }, faults }
}

/** The files of these sources and of all that they import, not of what they load later. */
function filesOf(manifest: Manifest, sources: readonly string[]): string[] {
  const seen = new Set<string>()
  const files = new Set<string>()
  const follow = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    const chunk = manifest[name]
    if (chunk === undefined) throw new Error(`the build has no ${name}`)
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file)
    for (const imported of chunk.imports ?? []) follow(imported)
  }
  for (const source of sources) follow(source)
  return [...files]
}

/** Gzipped here, whatever a server would do with them; largest first. */
async function sizesOf(files: readonly string[]): Promise<{ file: string; bytes: number }[]> {
  const sizes = await Promise.all(
    files.map(async (file) => ({ file, bytes: zipped(await readFile(new URL(file, dist))) })),
  )
  return sizes.toSorted((one, other) => other.bytes - one.bytes)
}

const zipped = (content: Uint8Array): number => gzipSync(content, { level: 9 }).length

const sum = (files: readonly { file: string; bytes: number }[], ending: string): number =>
  files.reduce((total, { file, bytes }) => total + (file.endsWith(ending) ? bytes : 0), 0)

async function scriptSize(response: Response): Promise<{ url: string; bytes: number }> {
  const isScript = response.request().resourceType() === 'script'
  return { url: response.url(), bytes: isScript ? zipped(await response.body()) : 0 }
}

/** Runs in the page: notes when its heading is there, by the page's own clock. */
function noteHeading(): void {
  new MutationObserver((_, observer) => {
    if (document.querySelector('h1') === null) return
    observer.disconnect()
    performance.mark('heading')
  }).observe(document, { childList: true, subtree: true })
}

/** Runs in the page: what was asked for before the heading was there, whenever it came. */
function requestedScripts(): string[] {
  const stoodAt = performance.getEntriesByName('heading')[0]?.startTime ?? Infinity
  return performance
    .getEntriesByType('resource')
    .filter(({ startTime }) => startTime <= stoodAt)
    .map(({ name }) => name)
}
