import type { AgentFrame, Capabilities, ServerFrame } from '#machines/protocol.ts'
import { protocolVersions } from '#machines/protocol.ts'
import { createServerClock, type HostClock } from './clock.ts'
import { cutFaultsKey } from './cut/cut-faults.ts'
import type { CutFault } from './cut/cut-lane.ts'
import { createDriftWatch } from './drift.ts'
import type { DriverFactories } from './drivers/driver.ts'
import { createHeldEntries } from './held-entries.ts'
import type { Identity } from './identity.ts'
import { createJournalWriter } from './journal-writer.ts'
import { createLink } from './link.ts'
import { createListingAnswers } from './listing.ts'
import { createLists, type DueAddress } from './lists.ts'
import type { AgentLog } from './log.ts'
import { createOrders } from './orders.ts'
import type { Recovered } from './recover.ts'
import { createRefreshes } from './refreshes.ts'
import { createResults } from './results.ts'
import { hasRebooted, startUp } from './start-up.ts'
import { createTicker } from './ticker.ts'
import { agentVersion } from './version.ts'

/** A running agent. */
export type Agent = {
  /** Puts the lists in order by the journal alone, then begins to look for the server. */
  start: () => Promise<void>
  /** Finishes the batches at hand and ends the link; doors stay, by the kernel's timeouts, until the next start. */
  stop: () => Promise<void>
  isLinked: () => boolean
}

const clockKeptEveryMs = 5_000
const capabilitiesEveryMs = 60_000

/** Puts the agent together. Everything of the host is passed in: its clock, its drivers, its folder's journal. */
export function createAgent(deps: {
  server: URL
  ca: string | undefined
  token: string | undefined
  identity: Identity
  recovered: Recovered
  drivers: DriverFactories<string>
  /** Empties what the agent may have opened on the managed sets. */
  emptyManaged: () => Promise<void>
  readCapabilities: () => Promise<Capabilities>
  host: HostClock
  random: () => number
  /** Called each second while the agent is well. */
  onAlive: () => void
  log: AgentLog
}): Agent {
  const { recovered, log } = deps
  const { journal, meta } = recovered
  const clock = createServerClock(deps.host, { record: meta.clock, truthAtMs: meta.truthAtMs })
  const held = createHeldEntries(recovered.lines)
  let mayOpen = true
  let cutFaults: Record<string, CutFault> = {}
  let capabilities: Capabilities | undefined
  let timers: ReturnType<typeof setInterval>[] = []

  const { nowOrWall } = clock
  const standpoint = () => ({ now: clock.now(), truthAt: clock.truthAt(), mayOpen })
  const send = (frame: AgentFrame) => void link.send(frame)

  const { trustFile, serialFile } = recovered
  const writer = createJournalWriter({
    journal,
    held,
    trustFile,
    serialFile,
    serial: meta.serial,
    now: nowOrWall,
    log,
  })
  const results = createResults({
    beforeSend: writer.flushCloses,
    send: (sent) => send({ type: 'results', results: sent }),
  })
  const ticker = createTicker<DueAddress>({ now: clock.now, onDue: (due) => lists.takeDue(due) })
  const lists = createLists({
    held,
    drivers: deps.drivers,
    writer,
    standpoint,
    nowOrWall,
    watch: ticker.watch,
    onResult: results.add,
    onReplaced: (list) => drift.lookAtReplaced(list),
    onCutFault: (listKey, fault) => {
      cutFaults = { ...cutFaults, [listKey]: fault }
      writer.noteMeta(cutFaultsKey, cutFaults)
    },
    log,
  })
  const drift = createDriftWatch({
    lists,
    held,
    standpoint,
    nowOrWall,
    onDrift: (drifts) => send({ type: 'drift', drifts }),
    onReports: (reports) => send({ type: 'targetReports', reports }),
    log,
  })
  const orders = createOrders({
    held,
    lists,
    writer,
    onResult: results.add,
    onJournalled: (batch) => send({ type: 'journalled', batch }),
    nowOrWall,
    monotonicNow: clock.monotonicNow,
    epoch: hasRebooted({ meta, bootId: deps.host.bootId }) ? null : meta.epoch,
    highestGeneration: meta.highestGeneration,
    log,
  })

  const listings = createListingAnswers({
    lists,
    nowOrWall,
    send: (frame) => link.send(frame),
    hasRoom: () => link.hasRoom(),
    log,
  })

  const refreshes = createRefreshes({ lists, nowOrWall, send, log })

  const takeTime = (frame: { nowMs: number; truthAtMs?: number }) => {
    clock.take(frame)
    ticker.look()
    lists.wake()
  }

  const takers: { [Type in ServerFrame['type']]: (frame: Extract<ServerFrame, { type: Type }>) => unknown } =
    {
      welcome: (frame) => {
        mayOpen = frame.mayOpen
        if (frame.epoch !== orders.epoch()) refreshes.drop()
        orders.takeWelcome(frame)
        takeTime(frame)
        keepClock()
      },
      heartbeat: takeTime,
      targets: (frame) => orders.takeTargets(frame.targets),
      orders: (frame) => {
        clock.take({ nowMs: frame.nowMs })
        return orders.take(frame)
      },
      buckets: (frame) => {
        clock.take({ nowMs: frame.nowMs })
        return orders.takeBuckets(frame)
      },
      digestRequest: ({ request, targetId }) =>
        send({ type: 'digest', request, targetId, buckets: held.digestOf(targetId) }),
      listingRequest: listings.take,
      refresh: refreshes.take,
      move: () => {},
    }

  const takeFrame = async <Type extends ServerFrame['type']>(frame: Extract<ServerFrame, { type: Type }>) => {
    try {
      await takers[frame.type](frame)
    } catch (error) {
      log.error({ frame: frame.type, error: String(error) }, 'a frame could not be carried out')
    }
  }

  const hello = (): AgentFrame => ({
    type: 'hello',
    protocol: protocolVersions,
    version: agentVersion,
    machineId: deps.identity.machineId,
    bootId: deps.host.bootId,
    nowMs: Math.max(0, Math.round(deps.host.wallNow())),
    epoch: orders.epoch(),
    highestGeneration: orders.highestGeneration(),
    capabilities: capabilities ?? emptyCapabilities,
  })

  const link = createLink({
    server: deps.server,
    ca: deps.ca,
    identity: deps.identity,
    token: deps.token,
    version: agentVersion,
    hello,
    onFrame: (frame) => void takeFrame(frame),
    onState: (state) => writer.noteMeta('link', { state, atMs: nowOrWall() }),
    closeEverything: orders.closeEverything,
    random: deps.random,
    now: nowOrWall,
    log,
  })

  const everySecond = () => {
    if (clock.tick()) {
      log.warn('the host slept or its clock was set: all ends are written again')
      lists.rewriteAll()
    }
    ticker.look()
    deps.onAlive()
  }

  const keepClock = () => {
    const record = clock.record()
    if (record === null) return
    writer.noteMeta('clock', record)
    writer.noteMeta('truthAtMs', clock.truthAt())
  }

  const lookAtHost = async () => {
    const seen = await deps.readCapabilities()
    if (JSON.stringify(seen) === JSON.stringify(capabilities)) return
    capabilities = seen
    send({ type: 'capabilities', capabilities: seen })
  }

  return {
    start: async () => {
      for (const target of recovered.targets) lists.put(target)
      await startUp({
        ...recovered,
        emptyManaged: deps.emptyManaged,
        bootId: deps.host.bootId,
        held,
        writer,
        lists,
        drift,
        clock,
        log,
      })
      await lookAtHost()
      ticker.look()
      drift.start()
      link.start()
      timers = [
        setInterval(everySecond, 1_000),
        setInterval(keepClock, clockKeptEveryMs),
        setInterval(() => void lookAtHost(), capabilitiesEveryMs),
      ]
    },
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      ticker.stop()
      drift.stop()
      await lists.stop()
      results.flush()
      await link.stop()
      keepClock()
      writer.flush()
      writer.stop()
      journal.close()
    },
    isLinked: link.isLinked,
  }
}

const emptyCapabilities: Capabilities = {
  'os-release': null,
  ipset: { command_available: false, sudo_enabled: false, privilege: 'none', ipsets: [] },
  haproxy: null,
  script: { enabled: false, commands: [] },
}
