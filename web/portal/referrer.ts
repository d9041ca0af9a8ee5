import { entryAddress } from '#machines/entry-address.ts'
import type { AclStatus } from '#server/status/status.schema.ts'
import { browserStorage } from '../shell/browser-storage.ts'

/** An address is remembered up to this length, in characters. */
const longest = 2_048

/** A page that sends somebody here again so soon after a return isn't returned to by itself, in milliseconds. */
const againWithinMs = 60_000

/** The page that sent somebody here by `?referrer=`. It may be anything: only `findReturn` says whether it counts. */
export type Referrer = {
  url: string
  /** Somebody was just sent back there: going again by itself could go round for ever. */
  isRepeated: boolean
}

/** What this tab keeps of it, over the sign-in and an identity provider's pages. */
type Kept = { url: string | null; last: { url: string; at: number } | null }

/** Takes `?referrer=` out of the page's address and keeps it, if it is a web address at all. For a bundle's start. */
export function takeReferrer(): void {
  const here = new URL(location.href)
  const given = here.searchParams.get('referrer')
  if (given === null) return
  here.searchParams.delete('referrer')
  history.replaceState(history.state, '', here)
  keep({ ...kept(), url: toReferrer(given) })
}

/** The page that this tab is to go back to, if any. */
export function keptReferrer(now = Date.now()): Referrer | null {
  const { url, last } = kept()
  return url === null ? null : { url, isRepeated: last?.url === url && now - last.at < againWithinMs }
}

/** Nobody goes back there any more, and nothing is kept of it. */
export const dropReferrer = (): void => browserStorage.clearSession('referrer')

/** Goes back, once. */
export function goBackTo(url: string, address: string): void {
  keep({ url: null, last: { url, at: Date.now() } })
  location.assign(address)
}

/** A web address in its normal form; null for whatever else somebody put there. */
export function toReferrer(text: string): string | null {
  // Before parsing: what browsers quietly repair is refused.
  if (text.length > longest || !/^https?:\/\/[^/?#\\@\s]+([/?#]|$)/i.test(text)) return null
  if (/[\\\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (!isWeb || url.username !== '' || url.password !== '') return null
  // Separators and dots that servers may take for such after all.
  return /%(25)*(2e|2f|5c)/i.test(url.pathname) ? null : url.href
}

/**
 * The entry that an address belongs to: the same origin, and the entry's path is the beginning of the address's, whole
 * segments. Of several the one that says most, and of those one that stands open.
 */
export function findReturn(url: string, entries: readonly AclStatus[]): AclStatus | undefined {
  const target = new URL(url)
  return entries
    .filter((entry) => isBaseOf(entry.URL, target))
    .toSorted(
      (a, b) => pathOf(b).length - pathOf(a).length || Number(standsOpen(b)) - Number(standsOpen(a)),
    )[0]
}

/** Whether somebody gets through: granted, or read by the enforcement point. */
export const standsOpen = ({ Status }: Pick<AclStatus, 'Status'>): boolean => Status === 0 || Status === 5

/** The address to go to: the page itself, with the entry's one-time token where it has one. */
export const returnAddress = (url: string, { Config }: Pick<AclStatus, 'Config'>): string =>
  entryAddress(url, Config.UriToken) ?? url

function isBaseOf(base: string, target: URL): boolean {
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base)) return false
  const { origin, pathname } = new URL(base)
  if (origin !== target.origin) return false
  const folder = pathname.replace(/\/+$/, '')
  return target.pathname === folder || target.pathname.startsWith(`${folder}/`)
}

const pathOf = (entry: AclStatus): string => new URL(entry.URL).pathname

function kept(): Kept {
  const stored = browserStorage.readSession('referrer')
  const { url, last } = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<Kept>
  return {
    // Session storage is anybody's who has the browser open: checked again.
    url: typeof url === 'string' ? toReferrer(url) : null,
    last: typeof last?.url === 'string' && typeof last.at === 'number' ? last : null,
  }
}

function keep(next: Kept): void {
  if (next.url === null && next.last === null) browserStorage.clearSession('referrer')
  else browserStorage.writeSession('referrer', next)
}
