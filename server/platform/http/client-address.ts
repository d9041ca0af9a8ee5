import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './http-env.ts'
import { createAddressMatcher, findAddress } from './ip-address.ts'

/** Whose request it is. Addresses open firewalls, so this is decided here and nowhere else. */
export interface ClientAddress {
  /** In its one spelling; 'unknown' when even the connection's other end is. */
  address: string
  family: 4 | 6
  /**
   * The peer that spoke for somebody else without being a trusted proxy, or that, trusted, said something
   * unusable. Such a request can sign in but gets no grant (decision 9).
   */
  viaUntrustedProxy: false | string
}

/** Enough for any chain of real proxies; more is a game. */
const mostHops = 32

const forwardingHeaders =
  /^(forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/

/**
 * Decides the client's address. Without a trusted peer it is the peer, and a forwarding header only flags it.
 * From a trusted peer X-Forwarded-For or Forwarded is read from the right: the first address that is no trusted
 * proxy is the client, what stands left of it is the client's own claim. Both headers must say the same, as a
 * proxy that writes one lets a forged other one pass.
 */
export function clientAddress({
  peer,
  headers,
  isTrusted,
}: {
  peer: string
  headers: Headers
  isTrusted: (address: string) => boolean
}): ClientAddress {
  const found = findAddress(peer)
  if (found === undefined) return { address: 'unknown', family: 4, viaUntrustedProxy: 'unknown' }
  if (!isTrusted(found.address))
    return { ...found, viaUntrustedProxy: hasForwardingHeader(headers) && found.address }
  const claims = [listForwardedFor(headers), listForwarded(headers)].filter((claim) => claim !== undefined)
  const clients = claims.map((hops) => findClient(hops, isTrusted))
  const [client = clients.length === 0 ? found : undefined] = clients
  const isAgreed = clients.every((other) => other?.address === client?.address)
  if (client === undefined || !isAgreed) return { ...found, viaUntrustedProxy: found.address }
  return { ...client, viaUntrustedProxy: false }
}

/** Whether a request says that it comes for somebody else. */
export const hasForwardingHeader = (headers: Headers): boolean =>
  [...headers.keys()].some((name) => forwardingHeaders.test(name))

/** Puts the client's address into `c.var.client`. */
export function clientAddressOf(trustedProxies: readonly string[]): MiddlewareHandler<HttpEnv> {
  const isTrusted = createAddressMatcher(trustedProxies)
  return async function setClientAddress(c, next) {
    c.set('client', clientAddress({ peer: c.env?.peer ?? '', headers: c.req.raw.headers, isTrusted }))
    await next()
  }
}

function findClient(hops: string[], isTrusted: (address: string) => boolean) {
  if (hops.length > mostHops) return undefined
  for (const [index, hop] of hops.toReversed().entries()) {
    const found = findAddress(withoutPort(hop))
    if (found === undefined) return undefined
    if (!isTrusted(found.address) || index === hops.length - 1) return found
  }
  return undefined
}

function listForwardedFor(headers: Headers): string[] | undefined {
  return headers
    .get('x-forwarded-for')
    ?.split(',')
    .map((hop) => hop.trim())
}

/** RFC 7239. Cut at commas before quotes are looked at: a client's unclosed quote must not swallow the proxy's part. */
function listForwarded(headers: Headers): string[] | undefined {
  return headers
    .get('forwarded')
    ?.split(',')
    .map((part) => /(?:^|;)\s*for=("?)([^";]+)\1\s*(?:;|$)/i.exec(part)?.[2] ?? '')
}

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1]
  if (bracketed !== undefined) return bracketed
  return /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
}
