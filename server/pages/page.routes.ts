import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Hono } from 'hono'
import type { HttpEnv } from '../platform/http/http-env.ts'
import type { PageFile, PageFiles } from './page-files.ts'

/**
 * The portal's and the console's pages: hashed files for ever, everything else asked for anew each time, and every
 * other path is a page of one of the two applications (decision 35: HTML is never kept).
 */
export function pageRoutes({ files }: PageFiles) {
  return new Hono<HttpEnv>().get('*', async (c) => {
    const { path } = c.req
    const page = path === '/admin' || path.startsWith('/admin/') ? '/admin.html' : '/index.html'
    const file =
      files.get(path) ?? files.get(`${path}.html`) ?? (isPagePath(path) ? files.get(page) : undefined)
    if (file === undefined) return c.text(files.size === 0 ? notBuilt : 'Not found.', 404, missing)
    if (c.req.header('If-None-Match') === file.etag) return c.body(null, 304, headersOf(file))
    if (!isWorthPacking(file) || !takesGzip(c.req.header('Accept-Encoding')))
      return c.body(file.body, 200, headersOf(file))
    return c.body(await pack(file), 200, { ...headersOf(file), 'Content-Encoding': 'gzip' })
  })
}

/** Another release may have the file in a moment. */
const missing = { 'Cache-Control': 'no-store' }

const notBuilt = 'The web pages are not built. Run `npm run build`, then start the server again.'

/** A path with a file's ending that isn't there is missing; anything else is for the application's router. */
const isPagePath = (path: string): boolean => !/\.[a-z0-9]{1,12}$/i.test(path)

const headersOf = (file: PageFile): Record<string, string> => ({
  'Content-Type': file.type,
  'Cache-Control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  ETag: file.etag,
  ...(isWorthPacking(file) && { Vary: 'Accept-Encoding' }),
})

/** Text of more than a packet; pictures and fonts are packed already. */
const isWorthPacking = ({ type, body }: PageFile): boolean =>
  body.length > 1_400 && /^text\/|json|svg|javascript/.test(type)

/** Whether a browser takes gzip: named without a quality of 0. */
const takesGzip = (accepted = ''): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/.test(accepted)

const gzipped = promisify(gzip)
const packed = new WeakMap<PageFile, Promise<Uint8Array<ArrayBuffer>>>()

/** Packed at its first request, once: nothing in these files is anybody's secret. */
function pack(file: PageFile): Promise<Uint8Array<ArrayBuffer>> {
  const known = packed.get(file)
  if (known !== undefined) return known
  const packing = gzipped(file.body, { level: 9 }).then((body) => new Uint8Array(body))
  packed.set(file, packing)
  return packing
}
