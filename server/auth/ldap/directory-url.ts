import { apiError } from '../../errors.ts'

/** Where a directory listens. */
export type DirectoryPlace =
  | { scheme: 'ldap' | 'ldaps'; host: string; port: number }
  /** A Unix socket of this host. */
  | { scheme: 'ldapi'; path: string }

/** Where Debian's OpenLDAP has its socket, for `ldapi:///`. */
const usualSocket = '/run/slapd/ldapi'

/**
 * The place a URL of the settings means: `ldap://host[:389]`, `ldaps://host[:636]`, or `ldapi://` with the socket's
 * path, its slashes written %2F. cldap is refused: it has no bind.
 *
 * @throws err.ldapUrlScheme
 */
export function parseDirectoryUrl(text: string): DirectoryPlace {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const scheme = url?.protocol.slice(0, -1)
  if (url === undefined || (scheme !== 'ldap' && scheme !== 'ldaps' && scheme !== 'ldapi'))
    throw apiError('err.ldapUrlScheme', { extra: 'LDAPURL' })
  if (scheme === 'ldapi') {
    const path = decode(url.hostname) || (url.pathname.length > 1 ? decode(url.pathname) : usualSocket)
    if (!path.startsWith('/')) throw apiError('err.ldapUrlScheme', { extra: 'LDAPURL' })
    return { scheme, path }
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost'
  return { scheme, host, port: Number(url.port) || (scheme === 'ldap' ? 389 : 636) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
