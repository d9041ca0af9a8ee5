import { z } from 'zod'
import { defineBackend, field } from './definition.ts'

/** Where HAProxy's runtime socket is: a Unix socket's path, or a host and port. */
export type HaproxyPlace = { path: string } | { host: string; port: number }

/** Plain absolute path without `.`, `..` or `//`; 107 bytes are the kernel's limit. A comma would be two paths to Deno. */
const pathPattern = /^(?=.{2,107}$)(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.@:+-]+)+$/
const hostPattern =
  /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?):([1-9]\d{0,4})$/

/** What a socket's address means; undefined for anything that is not exactly one path or one host and port. */
export function readPlace(address: string): HaproxyPlace | undefined {
  if (pathPattern.test(address)) return { path: address }
  const [, host, port] = hostPattern.exec(address) ?? []
  if (host === undefined || !URL.canParse(`http://${address}/`)) return undefined
  // The URL standard's canonical text: lower case, IPv6 in short form, `127.1` as 127.0.0.1.
  const canonical = new URL(`http://${address}/`).hostname.replace(/^\[|\]$/g, '')
  return Number(port) > 65_535 ? undefined : { host: canonical, port: Number(port) }
}

/** The same text for everybody who means the same socket by other words: `/var/run` is `/run`, localhost a loopback. */
export function placeText(place: HaproxyPlace): string {
  if ('path' in place) return place.path.replace(/^\/var\/run\//, '/run/')
  const host = place.host === 'localhost' ? '127.0.0.1' : place.host
  return host.includes(':') ? `[${host}]:${place.port}` : `${host}:${place.port}`
}

/** ACLs have a number of their own: the one after `-u` in HAProxy's configuration, or one that it counts. */
const aclId = z
  .number({
    error: ({ input }) =>
      input === undefined || input === null ? 'err.aclIdRequired' : 'err.aclIdMustBeNumber',
  })
  .multipleOf(1, 'err.aclIdMustBeNumber')
  .min(0, 'err.aclIdMustBeNumber')
  .max(2_147_483_647, 'err.aclIdMustBeNumber')

/**
 * HAProxy on the agent's host, through its runtime socket: addresses of both families in one ACL.
 *
 * HAProxy ends no entry by itself and forgets all of them when it restarts: both are the agent's to see to.
 */
export const haproxy = defineBackend({
  id: 'haproxy',
  label: 'backend.haproxy',
  minAgentVersion: '1.6.0',
  needsAgent: true,
  expiry: 'agent',
  backend: z
    .strictObject({
      Protocol: z
        .enum(['unix', 'tcp'])
        .default('unix')
        .register(field, {
          label: 'field.Protocol',
          choices: { unix: 'field.Protocol.unix', tcp: 'field.Protocol.tcp' },
        }),
      Address: z
        .string()
        .min(1)
        .max(300)
        .refine((address) => readPlace(address) !== undefined, 'err.invalidField')
        .register(field, { label: 'field.Address', placeholder: '/var/run/haproxy.sock' }),
    })
    .refine(({ Protocol, Address }) => isOfProtocol(Address, Protocol), {
      error: 'err.invalidField',
      path: ['Address'],
    }),
  acl: z.strictObject({ ID: aclId.register(field, { label: 'field.ID' }) }),
  targets: ({ agentId, backend, acl }) => [
    {
      families: [4, 6],
      key: `haproxy:${agentId}:${textOf(backend.Address)}:${acl.ID}`,
      list: { ID: acl.ID },
    },
  ],
})

function isOfProtocol(address: string, protocol: 'unix' | 'tcp'): boolean {
  const place = readPlace(address)
  return place !== undefined && 'path' in place === (protocol === 'unix')
}

const textOf = (address: string): string => {
  const place = readPlace(address)
  return place === undefined ? address : placeText(place)
}
