import type { ServerClock } from './clock.ts'
import type { DriftWatch } from './drift.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import type { List, Lists } from './lists.ts'
import type { AgentLog } from './log.ts'
import type { Recovered } from './recover.ts'

/** Longest wait for the lists before the server is looked for; a hung device doesn't keep the others waiting. */
const startWithinMs = 5_000

/**
 * Puts the lists in order by the journal alone: closes what is past its end, puts back what should stand and is
 * gone, empties what can't be accounted for. Everything after it happens with the server.
 */
export async function startUp(
  deps: Pick<Recovered, 'isTrusted' | 'meta'> & {
    bootId: string
    emptyManaged: () => Promise<void>
    held: HeldEntries
    lists: Lists
    drift: Pick<DriftWatch, 'look'>
    clock: Pick<ServerClock, 'now'>
    log: AgentLog
  },
): Promise<void> {
  const { lists, held, clock, log } = deps
  if (!deps.isTrusted) await deps.emptyManaged()
  if (clock.now() === null && deps.meta.clock !== null) {
    log.warn('the host’s clock is not believed: everything stays closed until the server was reached')
  }
  const hasRebooted = deps.meta.clock !== null && deps.meta.clock.bootId !== deps.bootId
  if (hasRebooted) for (const list of lists.all()) await forgetApplied(list, held)
  lists.adopt()
  const unsettled = [...held.all()].filter(
    ({ entry, applied }) => applied?.generation !== entry.generation || isOver(entry, clock.now()),
  )
  for (const { entry } of unsettled) lists.settle(entry.targetId, [entry.address])
  const lanesIdle = Promise.all(Array.from(lists.all(), (list) => list.lane.idle()))
  const work = deps.drift.look().then(() => lanesIdle)
  await Promise.race([work, new Promise((resolve) => setTimeout(resolve, startWithinMs))])
}

/** After a reboot what a script did is gone or unknown: it is told to flush, and then everything anew. */
async function forgetApplied(list: List, held: HeldEntries): Promise<void> {
  if ((await list.driver.list()) === 'unlistable') await list.driver.empty()
  for (const [id] of list.targets) {
    for (const one of held.ofTarget(id)) one.applied = null
  }
}

/** Open in the journal, and over, or not known to be still running. */
const isOver = ({ desired, until }: Held['entry'], now: number | null): boolean =>
  desired === 'open' && (now === null || until <= now)
