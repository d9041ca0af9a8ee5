import type { Context } from 'hono'

/** Longer than any key of ours; what is longer isn't looked at. */
const longest = 200

/**
 * The API key that a request shows: `Authorization: Bearer KEY`, or HTTP basic with any user name and the key as
 * password. Specification README "Integrators' API".
 */
export function readPresentedKey(c: Context): string | undefined {
  const [, scheme = '', credentials = ''] =
    /^(Bearer|Basic) +([\w\-./+=]{1,1000})$/i.exec(c.req.header('Authorization') ?? '') ?? []
  const key = scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : credentials
  return key.length > 0 && key.length <= longest ? key : undefined
}

/** What stands behind the first colon: a user name has none. */
function passwordOf(credentials: string): string {
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : ''
}
