import type { Config } from '../platform/config.ts'
import { type LookupPortChoice, lookupPortNumbers } from '../platform/config-values.ts'
import type { Settings } from '../settings/setting.schema.ts'

/** What address discovery does under the settings of the moment; the ports that fail are taken out later. */
export type LookupPlan = {
  /** Origin of the lookup service without a port; '' while there is none. */
  api: string
  /** What browsers are told to ask. */
  ports: readonly LookupPortChoice[]
  /** Ports that need a listener of their own. */
  listen: readonly LookupPortChoice[]
  /** The lookup port that the portal's own port stands for; null when it stands for none, or no look of ours counts. */
  portalPort: number | null
  /** Listeners are wanted but would speak plain http to pages in https, which browsers block. */
  isCertificateMissing: boolean
}

/** Nothing is asked, nothing listens. */
export const noLookup: LookupPlan = {
  api: '',
  ports: [],
  listen: [],
  portalPort: null,
  isCertificateMissing: false,
}

type Choices = Pick<Settings, 'DiscoverIP' | 'DiscoverIPURL'>

/** Plans it: off, by our own listeners, or by a foreign service. Specification README "Discovery". */
export function planLookup(
  config: Pick<Config, 'publicUrl' | 'lookupPorts' | 'tls'>,
  { DiscoverIP, DiscoverIPURL }: Choices,
): LookupPlan {
  if (!DiscoverIP) return noLookup
  return DiscoverIPURL === '' ? planOwn(config) : planForeign(DiscoverIPURL)
}

/** Origins of names that have an address of one family only; '' where there is none. */
export function familyOrigins({
  publicUrl,
  ipv4Host,
  ipv6Host,
}: Pick<Config, 'publicUrl' | 'ipv4Host' | 'ipv6Host'>): { IPv4Origin: string; IPv6Origin: string } {
  const { protocol, port } = new URL(publicUrl)
  const toOrigin = (host: string | undefined) =>
    host === undefined
      ? ''
      : `${protocol}//${host.includes(':') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`
  return { IPv4Origin: toOrigin(ipv4Host), IPv6Origin: toOrigin(ipv6Host) }
}

function planOwn({
  publicUrl,
  lookupPorts,
  tls,
}: Pick<Config, 'publicUrl' | 'lookupPorts' | 'tls'>): LookupPlan {
  const { protocol, hostname, port } = new URL(publicUrl)
  const publicPort = port === '' ? standardPort(protocol) : Number(port)
  const wanted = lookupPorts.filter(({ at }) => at !== publicPort)
  const isCertificateMissing = protocol === 'https:' && tls === undefined && wanted.length > 0
  const listen = isCertificateMissing ? [] : wanted
  return {
    api: `${protocol}//${hostname}`,
    ports: lookupPorts.filter((choice) => choice.at === publicPort || listen.includes(choice)),
    listen,
    portalPort: lookupPorts.find(({ at }) => at === publicPort)?.port ?? null,
    isCertificateMissing,
  }
}

function planForeign(url: string): LookupPlan {
  const isUsable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (!isUsable) return noLookup
  const { protocol, hostname } = new URL(url)
  const ports = lookupPortNumbers.map((port) => ({ port, at: port }))
  return { ...noLookup, api: `${protocol}//${hostname}`, ports }
}

const standardPort = (protocol: string): number => (protocol === 'https:' ? 443 : 80)
