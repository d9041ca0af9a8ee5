import { placeText, readPlace } from '#server/backends/definitions/haproxy.ts'

/** What HAProxy's configuration needs for one knoc. */
export type GuidedAcl = { address: string; id: number }

/** Where HAProxy's socket is when nobody says otherwise. Console §9. */
export const defaultAddresses = { unix: '/var/run/haproxy.sock', tcp: '127.0.0.1:9999' } as const

/** The runtime socket: `level admin`, so that connections can be ended, and for the agent's user alone. */
const globalPart = (address: string): string =>
  [
    'global',
    address.startsWith('/')
      ? `  stats socket ${address} mode 660 group knoc-agent level admin`
      : `  stats socket ${address} level admin`,
    '  stats timeout 1m',
    '  hard-stop-after 1h',
  ].join('\n')

/** A door for connections: whoever is not in the ACL is refused. `-u` keeps its number when the file changes. */
const tcpPart = (id: number): string =>
  [`  acl knoc src -u ${id}`, '  tcp-request connection reject if !knoc'].join('\n')

/** A door for requests: each is asked, so closing also meets a connection that is kept alive. */
const httpPart = (id: number): string =>
  [`  acl knoc src -u ${id}`, '  http-request deny deny_status 403 if !knoc'].join('\n')

/** The agent uses these by itself; others its own configuration has to name, like scripts. */
const isDefault = (address: string): boolean =>
  Object.values(defaultAddresses).some((known) => textOf(known) === textOf(address))

const textOf = (address: string): string => {
  const place = readPlace(address)
  return place === undefined ? address : placeText(place)
}

const agentPart = (address: string): string => JSON.stringify({ haproxyAddresses: [address] }, null, 2)

/** Every block of the guidance, in the order of the file. `key` is a translation key below `guide.haproxy.`. */
export const haproxyGuidance = ({
  address,
  id,
}: GuidedAcl): { key: 'global' | 'tcp' | 'http' | 'agent'; text: string }[] => [
  { key: 'global', text: globalPart(address) },
  { key: 'tcp', text: tcpPart(id) },
  { key: 'http', text: httpPart(id) },
  ...(isDefault(address) ? [] : [{ key: 'agent' as const, text: agentPart(address) }]),
]

/**
 * What the address field gets when the protocol is chosen: what is stored for it, else what the agent reports or
 * the default; undefined while the address that stands there was typed by hand. Console §3 "Defaults".
 */
export function addressFor(
  protocol: string,
  { stored, typed, reported }: { stored: string; typed: string; reported: string | undefined },
): string | undefined {
  const unix = reported ?? defaultAddresses.unix
  const known = ['', stored, unix, ...Object.values(defaultAddresses)]
  if (!known.includes(typed)) return undefined
  const isOfProtocol = stored !== '' && stored.startsWith('/') === (protocol === 'unix')
  if (isOfProtocol) return stored
  return protocol === 'unix' ? unix : defaultAddresses.tcp
}
