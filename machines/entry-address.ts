/** The query parameter that carries a knoc's one-time token. Specification README "knocproxy". */
const tokenParameter = 'knoc_token'

/**
 * Where an entry leads: its URL with its one-time token, ahead of a fragment and beside a query that is there.
 *
 * Undefined for anything but http and https: such a URL is shown as text and never followed. What stands in the
 * query already stays letter for letter, for its owner may read it in a way of his own. Portal §3 "Config.UriToken".
 */
export function entryAddress(url: string, token?: string): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  const address = new URL(url)
  if (token) {
    if (address.searchParams.has(tokenParameter)) address.searchParams.delete(tokenParameter)
    const pair = new URLSearchParams({ [tokenParameter]: token }).toString()
    address.search = address.search === '' ? pair : `${address.search}&${pair}`
  }
  return address.toString()
}
