import { setTimeout as wait } from 'node:timers/promises'
import type { Fetch, Listener, ListenerDeps } from './listener.ts'

/** The part of Deno that this file uses; no other file knows Deno. */
declare const Deno: {
  serve: (
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => ReturnType<Fetch>,
  ) => { addr: { port: number }; shutdown: () => Promise<void> }
}

/**
 * Listens with Deno.serve: twice as fast, but without time limits on headers, so only for use behind a proxy,
 * and without WebSockets, so it carries no agents (decision 30).
 */
export function startDenoListener({ config, fetch }: Pick<ListenerDeps, 'config' | 'fetch'>): Listener {
  const server = Deno.serve(
    { hostname: config.host, port: config.port, onListen: () => undefined },
    (request, { remoteAddr }) => fetch(request, { peer: remoteAddr.hostname ?? '' }),
  )

  /** What is still running after the grace ends with the process. */
  async function stop(graceMilliseconds: number): Promise<void> {
    await Promise.race([server.shutdown(), wait(graceMilliseconds, undefined, { ref: false })])
  }

  return { port: server.addr.port, stop }
}
