import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import type { Certificate } from './certificate.ts'
import type { Config } from './config.ts'
import { createConnectionLimit } from './connection-limit.ts'
import type { Log } from './log.ts'
import { createUpgrades, type OnUpgrade } from './upgrade.ts'

/** The app as a listener calls it. */
export type Fetch = (request: Request, env: { peer: string }) => Response | Promise<Response>

/** The one face to the network. */
export interface Listener {
  port: number
  /** Takes no more connections, lets running requests end for `graceMilliseconds`, then closes what is left. */
  stop: (graceMilliseconds: number) => Promise<void>
}

/** What a listener is made of. */
export interface ListenerDeps {
  config: Pick<Config, 'host' | 'port' | 'trustedProxies'>
  fetch: Fetch
  log: Log
  /** Decides about each WebSocket before a frame is read; without it there are none. */
  onUpgrade?: OnUpgrade
  /** Speaks https with it, and with the next one as soon as it is there; without it plain http. */
  certificate?: Pick<Certificate, 'current' | 'onChange'> | undefined
  /** Other limits than {@link listenerLimits}. */
  limits?: Partial<ListenerLimits>
}

/** What strangers may cost: times in milliseconds, sizes in bytes (decisions 29, 30). */
export type ListenerLimits = typeof listenerLimits

export const listenerLimits = {
  /** Until a TLS connection is made. */
  handshake: 10_000,
  /** Until the whole header is here; else 408. */
  headers: 10_000,
  /** Until the whole request is here; an answer may take as long as it likes (event streams). */
  request: 30_000,
  /** An idle connection; longer than the 60 s of common balancers, so that they close first. */
  keepAlive: 65_000,
  headerBytes: 16 * 1024,
  /** Connections one address may hold (IPv6: one /64); a large office is behind one. */
  connectionsPerAddress: 8192,
}

/** Listens with @hono/node-server: header and request time limits, size limits, WebSockets for agents. */
export async function startListener(deps: ListenerDeps): Promise<Listener> {
  const { config, fetch, log, certificate } = deps
  const limits = { ...listenerLimits, ...deps.limits }
  let isStopping = false
  const server = createAdaptorServer({
    fetch: (request, { incoming, outgoing }) => {
      if (isStopping && 'shouldKeepAlive' in outgoing) outgoing.shouldKeepAlive = false
      return fetch(request, { peer: incoming.socket.remoteAddress ?? '' })
    },
    // The process keeps its own Request and Response: Deno.serve and fetch take no others.
    overrideGlobalObjects: false,
    ...(certificate && { createServer: createTlsServer }),
    serverOptions: {
      ...certificate?.current(),
      handshakeTimeout: limits.handshake,
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      keepAliveTimeout: limits.keepAlive,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: Math.min(1000, limits.headers),
    },
  }) as Server
  server.on(
    'connection',
    createConnectionLimit({ perAddress: limits.connectionsPerAddress, exempt: config.trustedProxies }),
  )
  const upgrades = createUpgrades(deps.onUpgrade, log)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    upgrades.take(request, socket, head),
  )
  await listen(server, config)
  const forgetCertificate = certificate?.onChange((pair) => (server as TlsServer).setSecureContext(pair))
  server.on('error', (err) => log.error({ err }, 'the listener failed'))

  async function stop(graceMilliseconds: number): Promise<void> {
    isStopping = true
    forgetCertificate?.()
    const closed = once(server, 'close')
    server.close()
    server.closeIdleConnections()
    await Promise.race([closed, sleep(graceMilliseconds)])
    upgrades.close()
    server.closeAllConnections()
  }

  return { port: (server.address() as AddressInfo).port, stop }
}

/** On every address of both families, or of IPv4 alone where the system has no IPv6. */
async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  try {
    await tryListen(server, host, port)
  } catch (error) {
    const isWithoutIpv6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(
      (error as NodeJS.ErrnoException).code ?? '',
    )
    if (host !== '::' || !isWithoutIpv6) throw error
    await tryListen(server, '0.0.0.0', port)
  }
}

async function tryListen(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port })
  await once(server, 'listening')
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}
