import type { Certificate } from '../platform/certificate.ts'
import type { Config } from '../platform/config.ts'
import type { LookupPortChoice } from '../platform/config-values.ts'
import { type Fetch, type Listener, startListener } from '../platform/listener.ts'
import type { Log } from '../platform/log.ts'

/** A port that can't be listened on, as the console warns of it. Texts are `warning.<Code>`. */
export type PortFault = {
  Code: 'lookupPortInUse' | 'lookupPortDenied' | 'lookupPortFailed'
  Extra: string
}

/** Answers are one line to a request of one line: little time, little room (in milliseconds and bytes). */
const limits = {
  handshake: 5_000,
  headers: 5_000,
  request: 5_000,
  keepAlive: 5_000,
  headerBytes: 8 * 1024,
  connectionsPerAddress: 2_048,
}

/** How long a listener that is switched off lets its answers end, in milliseconds. */
const stopGraceMs = 500

/** What has to be done about a port, for the log. */
const remedies: Record<PortFault['Code'], string> = {
  lookupPortInUse: 'another program listens on it: move or switch it off with KNOC_LOOKUP_PORTS',
  lookupPortDenied:
    'ports below 1024 need a right (CAP_NET_BIND_SERVICE): give it, or move it with KNOC_LOOKUP_PORTS',
  lookupPortFailed: 'move it or switch it off with KNOC_LOOKUP_PORTS',
}

/** The lookup ports of this replica: started and stopped as the settings say, each on its own. None listens yet. */
export function createLookupListeners({
  config,
  certificate,
  fetchOf,
  log,
}: {
  config: Pick<Config, 'host' | 'trustedProxies'>
  /** Undefined: plain http. */
  certificate: Pick<Certificate, 'current' | 'onChange'> | undefined
  /** What answers on a port, by its number. */
  fetchOf: (port: number) => Fetch
  log: Log
}) {
  const running = new Map<number, Listener>()
  const faults = new Map<number, PortFault>()

  /** Brings the listeners in line with what is wanted; a port that fails is tried again at the next call. */
  async function follow(wanted: readonly LookupPortChoice[]): Promise<void> {
    const isWanted = (port: number) => wanted.some((choice) => choice.port === port)
    for (const port of faults.keys()) if (!isWanted(port)) faults.delete(port)
    const unwanted = [...running].filter(([port]) => !isWanted(port))
    for (const [port] of unwanted) running.delete(port)
    await Promise.all(unwanted.map(([, listener]) => listener.stop(stopGraceMs)))
    await Promise.all(wanted.filter(({ port }) => !running.has(port)).map(start))
  }

  async function start({ port, at }: LookupPortChoice): Promise<void> {
    try {
      const deps = { config: { ...config, port: at }, fetch: fetchOf(port), log, certificate, limits }
      running.set(port, await startListener(deps))
      if (faults.delete(port) || port !== at) log.info({ port, at }, 'the lookup port listens')
    } catch (error) {
      const code = codeOf(error)
      if (faults.get(port)?.Code !== code)
        log.warn({ err: error, port, at }, `the lookup port can't listen; ${remedies[code]}`)
      faults.set(port, { Code: code, Extra: String(at) })
    }
  }

  return {
    follow,
    isRunning: (port: number): boolean => running.has(port),
    /** What stands in the way of ports that are wanted. */
    faults: (): PortFault[] => [...faults.values()],
  }
}

function codeOf(error: unknown): PortFault['Code'] {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'lookupPortInUse'
  return code === 'EACCES' || code === 'EPERM' ? 'lookupPortDenied' : 'lookupPortFailed'
}
