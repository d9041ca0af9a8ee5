import type { MiddlewareHandler } from 'hono'

const yearSeconds = 31_536_000

/**
 * What browsers are told about every answer: no foreign or inline code, no frames, no sniffing, no leaking of
 * addresses, HTTPS for ever once the public URL is https, and nothing under /api kept in a cache. A route that says
 * otherwise of its own answer is left alone.
 */
export function securityHeaders({
  publicUrl,
  connectSources = () => [],
}: {
  publicUrl: string
  /** Origins that pages may ask beside their own at the moment: what discovers addresses. */
  connectSources?: () => readonly string[]
}): MiddlewareHandler {
  let known: { sources: string; policy: string } | undefined
  function policy(): string {
    const sources = ["'self'", ...connectSources()].join(' ')
    if (known?.sources !== sources) known = { sources, policy: toPolicy(sources) }
    return known.policy
  }
  const headers = Object.entries({
    // On an origin that browsers don't trust they ignore it, and complain on each page.
    ...(isTrustworthy(publicUrl) && { 'Cross-Origin-Opener-Policy': 'same-origin' }),
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    // Not no-referrer: that would make browsers send `Origin: null` with their forms.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': `max-age=${yearSeconds}` }),
  })
  return async function setSecurityHeaders(c, next) {
    await next()
    const { headers: said } = c.res
    if (!said.has(policyHeader)) said.set(policyHeader, policy())
    for (const [name, value] of headers) if (!said.has(name)) said.set(name, value)
    if (c.req.path.startsWith('/api') && !said.has('Cache-Control')) said.set('Cache-Control', 'no-store')
  }
}

const policyHeader = 'Content-Security-Policy'

const toPolicy = (connectSources: string): string =>
  Object.entries({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': connectSources,
    'manifest-src': "'self'",
    'worker-src': "'self'",
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  })
    .map((part) => part.join(' '))
    .join('; ')

/** Whether browsers take the origin for a secure context: https, or this machine itself. */
const isTrustworthy = (publicUrl: string): boolean =>
  /^(https:|http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$))/.test(publicUrl)
