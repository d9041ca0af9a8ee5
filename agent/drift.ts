import { performance } from 'node:perf_hooks'
import type { AgentFrame, DriftReport } from '#machines/protocol.ts'
import { compareList, type Findings } from './drift-compare.ts'
import { createDriftRounds } from './drift-rounds.ts'
import { type DriverError, isDriverError } from './drivers/driver.ts'
import type { HeldEntries } from './held-entries.ts'
import type { List, Lists } from './lists.ts'
import type { AgentLog } from './log.ts'
import type { Standpoint } from './standing.ts'

type TargetReport = Extract<AgentFrame, { type: 'targetReports' }>['reports'][number]

/** Looks at every list and holds it against the journal; what differs is put right and reported. */
export type DriftWatch = {
  /** One look at all lists. */
  look: () => Promise<void>
  /** Looks at one list before its turn: its enforcement point was restarted. */
  lookAtReplaced: (list: List) => void
  start: () => void
  stop: () => void
}

/** Lists that can't be looked into, and whole reports without news, get their turn this often. */
const seldomMs = 60_000

/** Builds the watch. */
export function createDriftWatch(deps: {
  lists: Lists
  held: HeldEntries
  standpoint: () => Standpoint
  nowOrWall: () => number
  onDrift: (drifts: DriftReport[]) => void
  onReports: (reports: TargetReport[]) => void
  log: AgentLog
}): DriftWatch {
  const told = new Map<string, { foreign: string; report: string; at: number; error: string | null }>()

  const look = async (lists: readonly List[]) => {
    const drifts: DriftReport[] = []
    const reports: TargetReport[] = []
    for (const list of lists) {
      const seen = await lookAt(list)
      drifts.push(...seen.drifts)
      reports.push(...seen.reports)
    }
    for (let index = 0; index < drifts.length; index += 100) deps.onDrift(drifts.slice(index, index + 100))
    for (let index = 0; index < reports.length; index += 500)
      deps.onReports(reports.slice(index, index + 500))
  }

  const rounds = createDriftRounds({
    lists: deps.lists.all,
    look,
    onFailure: (error) => deps.log.error({ error: String(error) }, 'looking for drift failed'),
  })

  const lookAt = async (list: List): Promise<{ drifts: DriftReport[]; reports: TargetReport[] }> => {
    const startedAt = performance.now()
    const known = told.get(list.key) ?? { foreign: '', report: '', at: 0, error: null }
    told.set(list.key, known)
    const listing = await list.driver.list()
    if (listing === 'unlistable') return { drifts: [], reports: lookAtUnlistable(list, known) }
    if (isDriverError(listing)) return lookAtBroken(list, listing, known)
    const found = compareList(deps, { list, listing, startedAt })
    repair(list, found)
    const drifts = toDrifts(list, found, known)
    if (known.error !== null) drifts.push(toDrift(list, 'listBack', [list.key], true))
    known.error = null
    return {
      drifts,
      reports: toReports(list, { ...found, foreign: found.foreign.length, error: null }, known),
    }
  }

  /** The list is gone or can't be read: make it anew if it is ours to make, and say so once. */
  const lookAtBroken = async (
    list: List,
    error: DriverError,
    known: { error: string | null; report: string; at: number },
  ) => {
    const health = await list.driver.ensure()
    const drifts: DriftReport[] = []
    if (error.code === 'setMissing' && known.error === null) {
      drifts.push(toDrift(list, 'listGone', [list.key], health === null))
      deps.log.warn({ list: list.key, isBack: health === null }, 'a list is gone')
    }
    known.error = (health ?? error).text
    if (health === null) settleAll(list)
    const counts = { desired: countDesired(list), actual: 0, foreign: 0, error: health?.text ?? null }
    return { drifts, reports: toReports(list, counts, known) }
  }

  const lookAtUnlistable = (list: List, known: { report: string; at: number }): TargetReport[] => {
    if (performance.now() - known.at < seldomMs && known.at > 0) return []
    for (const [id] of list.targets) {
      for (const held of deps.held.ofTarget(id)) {
        if (held.lastOutcome === 'failed' && !list.lane.isBusy(held.entry.address)) {
          deps.lists.settle(id, [held.entry.address])
        }
      }
    }
    const desired = countDesired(list)
    return toReports(list, { desired, actual: desired, foreign: 0, error: null }, known)
  }

  const repair = (list: List, found: Findings) => {
    list.lane.add([...found.missing, ...found.wrongEnd, ...found.unopened])
    const ordered = found.foreign.filter((address) => deps.lists.holders(list, address).length > 0)
    list.lane.add(removesForeign(list) ? found.foreign : ordered)
  }

  const settleAll = (list: List) => {
    for (const [id] of list.targets) {
      deps.lists.settle(
        id,
        Array.from(deps.held.ofTarget(id), (held) => held.entry.address),
      )
    }
  }

  const countDesired = (list: List): number =>
    [...list.targets.keys()].reduce((sum, id) => sum + deps.held.countOpen(id), 0)

  const toDrifts = (list: List, found: Findings, known: { foreign: string }): DriftReport[] => {
    const drifts: DriftReport[] = []
    if (found.missing.length > 0) drifts.push(toDrift(list, 'missing', found.missing, true))
    if (found.wrongEnd.length > 0) drifts.push(toDrift(list, 'wrongEnd', found.wrongEnd, true))
    const foreign = found.foreign.join()
    if (found.foreign.length > 0 && foreign !== known.foreign) {
      drifts.push(toDrift(list, 'foreign', found.foreign, removesForeign(list)))
    }
    known.foreign = foreign
    for (const { kind, count, sample } of drifts)
      deps.log.warn({ list: list.key, kind, count, sample }, 'drift')
    return drifts
  }

  const toReports = (
    list: List,
    counts: { desired: number; actual: number; foreign: number; error: string | null },
    known: { report: string; at: number },
  ): TargetReport[] => {
    const { desired, actual, foreign, error } = counts
    const report = JSON.stringify([desired, actual, foreign, error])
    if (report === known.report && performance.now() - known.at < seldomMs) return []
    Object.assign(known, { report, at: performance.now() })
    const checkedAtMs = deps.nowOrWall()
    return [...list.targets.keys()].map((targetId) => ({
      targetId,
      checkedAtMs,
      desired,
      actual,
      foreign,
      error,
    }))
  }

  return {
    look: rounds.lookAtAll,
    lookAtReplaced: (list) => {
      deps.log.warn({ list: list.key }, 'an enforcement point was restarted: its list is looked at')
      void rounds.lookAtOne(list)
    },
    start: rounds.start,
    stop: rounds.stop,
  }
}

/** Only when everybody who means the list says so. */
const removesForeign = (list: List): boolean =>
  [...list.targets.values()].every(({ foreignEntries }) => foreignEntries === 'remove')

function toDrift(list: List, kind: DriftReport['kind'], sample: string[], repaired: boolean): DriftReport {
  const targetId = [...list.targets.keys()].at(-1) ?? ''
  return {
    targetId,
    kind,
    count: sample.length,
    sample: sample.slice(0, 10).map((text) => text.slice(0, 64)),
    repaired,
  }
}
