import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Context, Hono } from 'hono'
import type { HttpEnv } from '../platform/http/http-env.ts'
import type { Theme } from '../status/status.schema.ts'
import { type PageFile, type PageFiles, toPageFile } from './page-files.ts'
import { type FirstLook, toHtml } from './page-html.ts'

/** What the pages' first paint is made of. */
type FirstLooks = {
  theme: () => Promise<Theme>
  /** Whether the browser has a cookie of a user's session, good or not. */
  hasUserCookie: (c: Context) => boolean
}

/**
 * The portal's and the console's pages: hashed files for ever, everything else asked for anew each time, and every
 * other path is a page of one of the two applications (decision 35: HTML is never kept).
 */
export function pageRoutes(pages: PageFiles, { theme, hasUserCookie }: FirstLooks) {
  const { files } = pages
  const write = createWriter()
  return new Hono<HttpEnv>().get('*', async (c) => {
    const { path } = c.req
    const page = path === '/admin' || path.startsWith('/admin/') ? '/admin.html' : '/index.html'
    const stored =
      files.get(path) ?? files.get(`${path}.html`) ?? (isPagePath(path) ? files.get(page) : undefined)
    if (stored === undefined) return c.text(files.size === 0 ? notBuilt : 'Not found.', 404, missing)
    const isPortal = stored === files.get('/index.html')
    const isSignedOut = isPortal && !hasUserCookie(c)
    const file = isHtml(stored)
      ? write(stored, {
          theme: await theme(),
          isSignedOut,
          // Who isn't signed in is led to the login.
          preloads: isPortal ? pages.preloadsOf(isSignedOut ? '/' : path) : [],
        })
      : stored
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
  ...(isHtml(file)
    ? { Vary: 'Accept-Encoding, Cookie' }
    : isWorthPacking(file) && { Vary: 'Accept-Encoding' }),
})

const isHtml = ({ type }: PageFile): boolean => type.startsWith('text/html')

/** Writes pages with what is known of their first look; each of the few that there are is made once. */
function createWriter(): (page: PageFile, look: FirstLook) => PageFile {
  const written = new WeakMap<PageFile, Map<string, PageFile>>()
  return (page, look) => {
    const variants = written.get(page) ?? new Map<string, PageFile>()
    written.set(page, variants)
    const key = JSON.stringify(look)
    const known = variants.get(key)
    if (known) return known
    // Logos come and go.
    if (variants.size >= mostVariants) variants.clear()
    const html = toHtml(new TextDecoder().decode(page.body), look)
    const file = toPageFile('page.html', new TextEncoder().encode(html))
    variants.set(key, file)
    return file
  }
}

const mostVariants = 200

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
