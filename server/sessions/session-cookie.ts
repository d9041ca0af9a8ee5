import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import { setDeviceCookie } from '../auth/known-device.cookie.ts'
import type { Config } from '../platform/config.ts'

/** Who signs in. Each realm has a session and a cookie of its own. */
export type Realm = 'user' | 'admin'

/** What a cookie has to be told about the session it carries. */
type CookieSession = {
  token: string
  /** Seconds until the session ends. */
  secondsLeft: number
  /** On a public computer: the browser forgets the cookie when it is closed. */
  kiosk: boolean
  /** By which the browser is known from now on; a complete sign-in gives one, on public computers none. */
  deviceToken?: string | null
}

/** Browsers refuse a longer Max-Age (RFC 6265bis): 400 days. */
const longestMaxAge = 400 * 86_400

/** The session cookies of both realms, as the public URL allows them. Specification README "Cookies". */
export type SessionCookies = {
  read(c: Context, realm: Realm): string | undefined
  set(c: Context, realm: Realm, session: CookieSession): void
  clear(c: Context, realm: Realm): void
}

/** https: `__Host-knoc_user`, `__Host-knoc_admin`, Secure. Plain http: the same without prefix and Secure. */
export function sessionCookies({ publicUrl }: Pick<Config, 'publicUrl'>): SessionCookies {
  const secure = publicUrl.startsWith('https:')
  const nameOf = (realm: Realm) => `${secure ? '__Host-' : ''}knoc_${realm}`
  const options: CookieOptions = { path: '/', httpOnly: true, sameSite: 'Lax', secure }

  return {
    read: (c, realm) => getCookie(c, nameOf(realm)),
    set(c, realm, { token, secondsLeft, kiosk, deviceToken = null }) {
      const maxAge = Math.min(longestMaxAge, Math.max(0, Math.floor(secondsLeft)))
      setCookie(c, nameOf(realm), token, kiosk ? options : { ...options, maxAge })
      if (deviceToken !== null) setDeviceCookie(c, { realm, token: deviceToken, secure })
    },
    clear: (c, realm) => void deleteCookie(c, nameOf(realm), options),
  }
}
