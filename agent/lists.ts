import { performance } from 'node:perf_hooks'
import type { OrderResult, TargetDescription } from '#machines/protocol.ts'
import { isAgentBackendId } from '#server/backends/definitions/index.ts'
import { createConclusion } from './conclude.ts'
import { type CutFault, type CutLane, createCutLane } from './cut/cut-lane.ts'
import { createLeaving, wasCutLately } from './cut/leaving.ts'
import { brokenDriver } from './drivers/broken.ts'
import type { Driver, DriverFactories, Outcome } from './drivers/driver.ts'
import { failAll } from './drivers/driver.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import type { JournalWriter } from './journal-writer.ts'
import { createLane, type Lane } from './lanes.ts'
import type { AgentLog } from './log.ts'
import { desiredOf, isWantedAt, renewAt, type Standpoint } from './standing.ts'

/** One list on an enforcement point, with everybody who means it. */
export type List = {
  key: string
  /** Newest last; they differ in settings that don't change which list is meant. */
  targets: Map<string, TargetDescription>
  driver: Driver
  lane: Lane
  /** Ends the connections of what the lane has closed. */
  cuts: CutLane
  /** Addresses kept closed for now though wanted: the server is silent, the time unknown, opening not allowed. */
  waiting: Set<string>
}

/** The lists this agent looks after. */
export type Lists = {
  all: () => Iterable<List>
  find: (targetId: string) => List | undefined
  /** Learns of a target; its list gets a driver and a lane. */
  put: (target: TargetDescription) => void
  /** Drops a target that has no open entry; the list goes with its last one. */
  forget: (targetId: string) => void
  /** Brings addresses to what they should be, in the list's own lane. */
  settle: (targetId: string, addresses: Iterable<string>) => void
  /** At the start: watches the ends of what stands, and remembers what waits for time or server. */
  adopt: () => void
  /** Takes up what waited, now that the server was heard. */
  wake: () => void
  /** What the ticker found due. */
  takeDue: (due: readonly DueAddress[]) => void
  /** Writes every end again: the host slept, or its clock was set. */
  rewriteAll: () => void
  /** The entries of every target for one address of a list. */
  holders: (list: List, address: string) => Held[]
  stop: () => Promise<void>
}

/** A thing to look at again when its time has come. */
export type DueAddress = { listKey: string; address: string; isRenewal: boolean }

/** Builds the lists; `watch` is the ticker's, `onResult` the outcome for the server. */
export function createLists(deps: {
  held: HeldEntries
  drivers: DriverFactories<string>
  writer: Pick<JournalWriter, 'noteApplied' | 'noteClose'>
  standpoint: () => Standpoint
  nowOrWall: () => number
  watch: (at: number, due: DueAddress) => void
  onResult: (result: OrderResult) => void
  /** A list's enforcement point was restarted: what stood there is gone. */
  onReplaced: (list: List) => void
  /** Connections of closed entries could not be ended, or can be again. */
  onCutFault: (listKey: string, fault: CutFault) => void
  log: AgentLog
}): Lists {
  const byKey = new Map<string, List>()
  const byTarget = new Map<string, List>()
  const conclude = createConclusion(deps)
  const leaving = createLeaving()

  const holders = (list: List, address: string): Held[] =>
    [...list.targets.keys()].flatMap((id) => deps.held.find(id, address) ?? [])

  const desired = (list: List, address: string) => desiredOf(holders(list, address), deps.standpoint())

  /** One turn of a lane: each address to what it should be right now. Answers the closes that failed. */
  const settle = async (list: List, addresses: string[]): Promise<string[]> => {
    const plans = addresses.map((address) => ({
      address,
      wanted: desired(list, address),
      holders: holders(list, address),
    }))
    const opening = plans.flatMap(({ address, wanted }) => (wanted === null ? [] : [{ address, ...wanted }]))
    const closing = plans.filter(({ wanted }) => wanted === null).map(toClosing)
    for (const plan of plans) for (const held of plan.holders) held.touchedAt = performance.now()
    const outcomes = new Map<string, Outcome>()
    const note = (outcome: Outcome) => void outcomes.set(outcome.address, outcome)
    if (closing.length > 0) (await guard(closing, () => list.driver.close(closing))).forEach(note)
    if (opening.length > 0) (await guard(opening, () => list.driver.open(opening))).forEach(note)
    const cuts: ReturnType<typeof toClosing>[] = []
    for (const plan of plans) {
      const outcome = outcomes.get(plan.address)
      if (outcome === undefined) continue
      if (plan.wanted !== null) leaving.noteStanding(plan.holders, deps.standpoint())
      else if (outcome.outcome !== 'failed' && leaving.saysCut(plan.holders)) cuts.push(toClosing(plan))
      for (const held of plan.holders) conclude({ list, held, outcome, stands: plan.wanted !== null })
      watch(list, plan)
    }
    list.cuts.add(cuts)
    return closing
      .filter(({ address }) => outcomes.get(address)?.outcome === 'failed')
      .map(({ address }) => address)
  }

  /** A driver doesn't throw; one that does all the same has failed for every entry, and the lane goes on. */
  const guard = async (
    entries: readonly { address: string }[],
    act: () => Promise<Outcome[]>,
  ): Promise<Outcome[]> => {
    try {
      return await act()
    } catch (error) {
      deps.log.error({ error: String(error) }, 'a driver failed unexpectedly')
      return failAll(entries, { code: 'unknown', text: 'the agent’s driver failed; see its log' })
    }
  }

  /** A failed open is watched too: what half succeeded must also end. */
  const watch = (
    list: List,
    { address, wanted }: { address: string; wanted: ReturnType<typeof desiredOf> },
  ) => {
    const { now } = deps.standpoint()
    if (wanted === null || now === null) return
    deps.watch(wanted.lookAt, { listKey: list.key, address, isRenewal: false })
    const again = renewAt(wanted.until, now)
    if (again !== null) deps.watch(again, { listKey: list.key, address, isRenewal: true })
  }

  /** An end may have moved since it was noted: then it is noted again for its new time. */
  const isReallyDue = (list: List, { address, isRenewal }: DueAddress): boolean => {
    const wanted = desired(list, address)
    const { now } = deps.standpoint()
    if (wanted === null || now === null || isRenewal) return true
    deps.watch(wanted.lookAt, { listKey: list.key, address, isRenewal: false })
    return false
  }

  const addressesOf = (list: List): Set<string> =>
    new Set([...list.targets.keys()].flatMap((id) => Array.from(deps.held.ofTarget(id), toAddress)))

  const adopt = (list: List, address: string) => {
    const wanted = desired(list, address)
    watch(list, { address, wanted })
    const { now } = deps.standpoint()
    const isWanted = holders(list, address).some(({ entry }) => isWantedAt(entry, now))
    if (wanted === null && isWanted) list.waiting.add(address)
    if (wanted === null && wasCutLately(holders(list, address), deps.nowOrWall())) {
      list.cuts.add([toClosing({ address, holders: holders(list, address) })])
    }
  }

  const toDriver = (target: TargetDescription): Driver => {
    const factory = isAgentBackendId(target.type) ? deps.drivers[target.type] : undefined
    if (factory !== undefined) return factory(target)
    return brokenDriver({ code: 'badTarget', text: `this agent has no driver for ${target.type}` })
  }

  const createList = (key: string, target: TargetDescription): List => {
    const list: List = {
      key,
      targets: new Map(),
      waiting: new Set(),
      driver: toDriver(target),
      lane: idleLane,
      cuts: idleLane,
    }
    list.lane = createLane({
      batchSize: list.driver.batchSize,
      isClose: (address) => desired(list, address) === null,
      settle: (addresses) => settle(list, addresses),
    })
    list.cuts = createCutLane({
      list: key,
      isShut: (address) => desired(list, address) === null,
      cut: async (entries, isShut) => list.driver.cut?.(entries, isShut) ?? null,
      onFault: (fault) => deps.onCutFault(target.key, fault),
      now: deps.nowOrWall,
      log: deps.log,
    })
    byKey.set(key, list)
    return list
  }

  return {
    all: () => byKey.values(),
    find: (targetId) => byTarget.get(targetId),
    put: (target) => {
      const key = `${target.type}|${target.key}`
      const known = byTarget.get(target.id)?.targets.get(target.id)
      if (known !== undefined && JSON.stringify(known) === JSON.stringify(target)) return
      const list = byKey.get(key) ?? createList(key, target)
      list.targets.delete(target.id)
      list.targets.set(target.id, target)
      list.driver = toDriver(target)
      list.driver.onReplaced?.(() => deps.onReplaced(list))
      byTarget.set(target.id, list)
    },
    forget: (targetId) => {
      const list = byTarget.get(targetId)
      byTarget.delete(targetId)
      list?.targets.delete(targetId)
      if (list === undefined || list.targets.size > 0) return
      byKey.delete(list.key)
      void list.lane.stop()
    },
    settle: (targetId, addresses) => byTarget.get(targetId)?.lane.add(addresses),
    adopt: () => {
      for (const list of byKey.values()) for (const address of addressesOf(list)) adopt(list, address)
    },
    wake: () => {
      for (const list of byKey.values()) {
        const ready = [...list.waiting].filter((address) => desired(list, address) !== null)
        for (const address of ready) list.waiting.delete(address)
        list.lane.add(ready)
      }
    },
    takeDue: (due) => {
      for (const [key, group] of Map.groupBy(due, ({ listKey }) => listKey)) {
        const list = byKey.get(key)
        list?.lane.add(group.filter((one) => isReallyDue(list, one)).map(({ address }) => address))
      }
    },
    rewriteAll: () => {
      for (const list of byKey.values()) list.lane.add(addressesOf(list))
    },
    holders,
    stop: async () => {
      await Promise.all([...byKey.values()].map((list) => list.lane.stop()))
      await Promise.all([...byKey.values()].map((list) => list.cuts.stop()))
    },
  }
}

const toAddress = ({ entry }: Held): string => entry.address

/** The last holder's name, for devices and scripts that attribute entries. */
function toClosing({ address, holders }: { address: string; holders: readonly Held[] }) {
  const newest = holders.toSorted((a, b) => b.entry.generation - a.entry.generation)[0]
  return { address, userName: newest?.entry.userName ?? '' }
}

/** Stands in for the instant in which list and lane are made for each other. */
const idleLane: Lane & CutLane = {
  add: () => {},
  isBusy: () => false,
  idle: async () => {},
  stop: async () => {},
}
