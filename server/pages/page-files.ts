import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'

/** One built file, held in memory: the whole web is about a megabyte and never changes while the server runs. */
export type PageFile = { body: Uint8Array<ArrayBuffer>; type: string; etag: string; isHashed: boolean }

/** The built web: its files by path, and the hash over both bundles ('' when nothing is built). */
export type PageFiles = { files: ReadonlyMap<string, PageFile>; bundleHash: string }

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

/** Reads a build folder; a missing one is an empty web. Source maps and Vite's own files stay out. */
export async function readPageFiles(folder: string): Promise<PageFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = new Map<string, PageFile>()
  for (const entry of names) {
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')
    const type = types[extname(path)]
    if (!entry.isFile() || type === undefined || path.startsWith('.')) continue
    const body = new Uint8Array(await readFile(join(folder, path)))
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
    files.set(`/${path}`, { body, type, etag, isHashed: path.startsWith('assets/') })
  }
  const hash = files.get('/bundle-hash.txt')
  return { files, bundleHash: hash === undefined ? '' : new TextDecoder().decode(hash.body).trim() }
}
