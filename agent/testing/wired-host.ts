import type { HostClock } from '../clock.ts'
import { type anOrder, ipsetTarget, until } from './builders.ts'
import { composeAgent, hostClock } from './compose.ts'
import { createNamespace } from './namespace.ts'
import { startWireServer } from './wire-server.ts'

const token = 'a-token-of-more-than-twenty-characters'

/** A host with a set of each family, a server on the wire, and agents that are started on it one after the other. */
export async function aWiredHost() {
  const ns = createNamespace()
  ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
  ns.run('create', 'six', 'hash:ip', 'family', 'inet6', 'timeout', '0')
  const server = await startWireServer({ token })
  const four = ipsetTarget('four', 4)
  const six = ipsetTarget('six', 6)
  server.targets.push(four, six)
  let stops: (() => Promise<unknown>)[] = []

  /** Starts an agent; it may or may not find the server. */
  async function start(over: Partial<Parameters<typeof composeAgent>[0]> = {}) {
    const made = composeAgent({
      dataFolder: `${ns.folder}/data`,
      ipset: ns.ipset,
      server: server.url.href,
      token,
      ...over,
    })
    stops.push(made.stop)
    await made.agent.start()
    return made
  }

  async function startLinked(over: Parameters<typeof start>[0] = {}) {
    const links = server.ofType('hello').length
    const made = await start(over)
    await until('a link', () => server.ofType('hello').length > links && made.agent.isLinked())
    return made
  }

  /** Ends the agents in good order; doors stay. */
  async function stopAgents(): Promise<void> {
    for (const stop of stops) await stop()
    stops = []
  }

  return {
    ns,
    server,
    four,
    six,
    data: `${ns.folder}/data`,
    start,
    startLinked,
    stopAgents,
    stands: (address: string, set = 'four') => ns.entries(set).has(address),
    outcomeOf: (order: ReturnType<typeof anOrder>) => server.resultOf(order)?.outcome,
    /** The whole truth of a target, as the server tells it to an agent of another epoch. */
    sendTruth: (asOfGeneration: number, ...entries: ReturnType<typeof anOrder>[]) =>
      server.send({
        type: 'buckets',
        batch: 9_000 + asOfGeneration,
        nowMs: Date.now(),
        targetId: four.id,
        buckets: Array.from({ length: 256 }, (_, index) => index),
        asOfGeneration,
        entries,
        last: true,
      }),
    close: async () => {
      await stopAgents()
      await server.goAway().catch(() => undefined)
      ns.remove()
    },
  }
}

/** A host's clocks in a test's hands: `wall` is off by so much, `slept` was not counted, `skipped` passed unseen. */
export function aSetClock(bootId = 'boot-1') {
  const state = { wallOffMs: 0, sleptMs: 0, skippedMs: 0 }
  const real = hostClock(bootId)
  const host: HostClock = {
    ...real,
    wallNow: () => real.wallNow() + state.wallOffMs + state.sleptMs + state.skippedMs,
    monotonicNow: () => real.monotonicNow() + state.skippedMs,
    uptimeNow: () => real.uptimeNow() + state.sleptMs + state.skippedMs,
  }
  return { host, state }
}
