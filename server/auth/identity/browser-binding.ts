import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Config } from '../../platform/config.ts'
import { hashToken, newToken } from '../../platform/random.ts'
import { requestMinutes } from './identity-request.store.ts'

/**
 * Binds a sign-in that leaves our pages to the browser that began it, so that nobody can be signed in with somebody
 * else's answer (login CSRF, decision 16).
 */
export type BrowserBinding = {
  /** Gives the browser its pre-login cookie, the one it has or a new one; answers its hash. */
  bind(c: Context): string
  /** Hash of the browser's pre-login cookie; undefined when it has none. */
  read(c: Context): string | undefined
}

/**
 * The pre-login cookie. An identity provider's answer is a POST from another site: SameSite=None lets it come along,
 * which needs Secure. In plain http (demonstration, inner tests) it has no SameSite at all, which browsers let pass
 * for two minutes.
 */
export function browserBinding({ publicUrl }: Pick<Config, 'publicUrl'>): BrowserBinding {
  const secure = publicUrl.startsWith('https:')
  const name = `${secure ? '__Host-' : ''}knoc_prelogin`
  const read = (c: Context): string | undefined => {
    const token = getCookie(c, name)
    return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
  }

  return {
    bind(c) {
      const token = read(c) ?? newToken()
      setCookie(c, name, token, {
        path: '/',
        httpOnly: true,
        maxAge: requestMinutes * 60,
        ...(secure && { secure, sameSite: 'None' }),
      })
      return hashToken(token)
    },
    read(c) {
      const token = read(c)
      return token === undefined ? undefined : hashToken(token)
    },
  }
}
