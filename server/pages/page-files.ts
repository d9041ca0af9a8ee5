import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { createPreloads } from './page-preloads.ts'
import { retiredWorker } from './retired-worker.ts'

/** One built file, held in memory: the whole web is about a megabyte and never changes while the server runs. */
export type PageFile = { body: Uint8Array<ArrayBuffer>; type: string; etag: string; isHashed: boolean }

/**
 * The built web: its files by path, the hash over both bundles ('' when nothing is built), and what the page at an
 * address needs beside the files that it names.
 */
export type PageFiles = {
  files: ReadonlyMap<string, PageFile>
  bundleHash: string
  preloadsOf: (path: string) => readonly string[]
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** Where the build keeps the release before it. */
const previous = 'previous/'

/**
 * Reads a build folder; a missing one is an empty web. Source maps and Vite's own files stay out. Of the release
 * before, its hashed files are served as if they were this one's: pages that were loaded from it still ask for them.
 *
 * Without the service worker browsers get one that takes itself away.
 */
export async function readPageFiles(
  folder: string,
  { serviceWorker }: { serviceWorker: boolean } = { serviceWorker: true },
): Promise<PageFiles> {
  const own = new Map<string, PageFile>()
  const older = new Map<string, PageFile>()
  for (const path of await pathsBelow(folder)) {
    const file = await readPageFile(folder, path)
    if (file === undefined) continue
    if (!path.startsWith(previous)) own.set(`/${path}`, file)
    else if (file.isHashed) older.set(`/${path.slice(previous.length)}`, file)
  }
  if (!serviceWorker && own.has('/sw.js')) own.set('/sw.js', toPageFile('sw.js', encode(retiredWorker)))
  const hash = own.get('/bundle-hash.txt')
  return {
    files: new Map([...older, ...own]),
    bundleHash: hash === undefined ? '' : new TextDecoder().decode(hash.body).trim(),
    preloadsOf: createPreloads(
      JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8').catch(() => '{}')),
    ),
  }
}

async function pathsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

async function readPageFile(folder: string, path: string): Promise<PageFile | undefined> {
  if (path.startsWith('.') || types[extname(path)] === undefined) return undefined
  return toPageFile(path, new Uint8Array(await readFile(join(folder, path))))
}

/** A file as it is served: its type by its ending, its name by its content. */
export function toPageFile(path: string, body: Uint8Array<ArrayBuffer>): PageFile {
  // Weak: the same for the packed form and the plain one.
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  const type = types[extname(path)] ?? 'application/octet-stream'
  return { body, type, etag, isHashed: /^(previous\/)?assets\//.test(path) }
}

const encode = (text: string) => new TextEncoder().encode(text)
