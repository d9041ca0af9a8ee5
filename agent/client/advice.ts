import { Refusal } from './session-api.ts'
import type { ClientStatus } from './status.schema.ts'

/** What the server's codes mean for whoever runs the client, and what to do next. */
const texts: Readonly<Record<string, string>> = {
  'err.invalidApiKey':
    'the server doesn’t take this key: it is unknown, past its end or deleted. Get a new one in the console (API keys)',
  'err.apiKeyNotPermitted':
    'this key is for something else. Use one of purpose user_auth, made with the user of type API key',
  'err.addressNotAllowed':
    'the key may not be used from this address. Add it to the key’s allowed addresses in the console',
  'err.proxyNotTrusted':
    'the request came through a proxy that the server doesn’t trust. Go there directly, or have it added to KNOC_TRUSTED_PROXIES',
  'err.accountDisabled': 'the user is disabled or past its end. Enable it in the console (Users)',
  'err.loginNotPermitted': 'the key’s user is not of type API key any more',
  'err.unlicensed': 'the server has no licence. Enter one in the console (Settings)',
  'err.userUnlicensed': 'the user is beyond the licence’s limit. Enlarge the licence or delete users',
  'err.accessRestricted': 'it may not be opened from this address',
  'err.addressNotGrantable': 'the server opens nothing for an address of its own or of a proxy',
  'err.noListForAddress': 'it has no list for addresses of this family',
  'err.tooManyRequests': 'too many attempts; wait a little',
  'err.invalidSession':
    'the session has ended: another sign-in took its place (session limit), or an administrator ended it. Run it again',
  'err.sessionExpired': 'this host has changed its address too often within an hour. Run it again',
  'err.foreignOrigin':
    'the server takes this request for another site’s; use the address of its KNOC_PUBLIC_URL',
  'err.notFound':
    'the server doesn’t know this call; it is too old, or the address isn’t that of a Knoc server',
}

/** A fault in words, with what to do next. */
export function adviceOn(fault: unknown): string {
  if (fault instanceof Refusal) {
    const extra = fault.extra === undefined || fault.extra.startsWith('err.') ? '' : ` (${fault.extra})`
    return `${texts[fault.code] ?? `the server refuses: ${fault.code}`}${extra}`
  }
  const why = fault instanceof Error ? fault.message : String(fault)
  return `the server can’t be reached (${why}). Check --server, the network and the certificate`
}

/** Why nothing opens although the sign-in was taken. */
export function licenceAdvice({
  Licensed,
  UserLicensed,
}: Pick<ClientStatus, 'Licensed' | 'UserLicensed'>): string[] {
  if (!Licensed) return [adviceOn(new Refusal(403, { Err: 'err.unlicensed' }))]
  return UserLicensed ? [] : [adviceOn(new Refusal(403, { Err: 'err.userUnlicensed' }))]
}
