import type { Context } from 'hono'
import type { ClientAddress } from '../platform/http/client-address.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import type { SignInClient } from '../sessions/session.service.ts'
import { readDeviceTokens } from './known-device.cookie.ts'

/** The browser that signs in, as every way in hands it to `admitUser` and `admitAdmin`. */
export type Arrival = {
  /** On a public computer; admins have none. */
  kiosk: boolean
  client: SignInClient
  /** The same address as the proxy rules found it. */
  seen: ClientAddress
  /** The browser's cookie of this realm so far: that session ends when the new one begins. */
  replaces: string | undefined
  requestId: string | null
}

/** Reads from a request who comes; `replaces` is what `cookies.read(c, realm)` gave. */
export function arrivalOf<Env extends HttpEnv>(
  c: Context<Env>,
  { kiosk = false, replaces }: { kiosk?: boolean; replaces: string | undefined },
): Arrival {
  return {
    kiosk,
    replaces,
    client: toSignInClient(c),
    seen: c.var.client,
    requestId: c.var.requestId ?? null,
  }
}

/** Where a request came from. */
export function toSignInClient<Env extends HttpEnv>(c: Context<Env>): SignInClient {
  const { address, viaUntrustedProxy } = c.var.client
  return {
    address: toAddress(address),
    untrustedProxy: viaUntrustedProxy === false ? null : toAddress(viaUntrustedProxy),
    userAgent: c.req.header('User-Agent')?.slice(0, 512) ?? null,
    deviceTokens: readDeviceTokens(c),
  }
}

/** A connection that was gone before it could be asked has no address; the unspecified one is never granted. */
export const toAddress = (address: string): string => (address === 'unknown' ? '0.0.0.0' : address)
