import { noEpoch } from '#machines/journal.ts'
import type { ServerClock } from './clock.ts'
import type { DriftWatch } from './drift.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { List, Lists } from './lists.ts'
import type { AgentLog } from './log.ts'
import type { Recovered } from './recover.ts'

/** Longest wait for the lists before the server is looked for; a hung device doesn't keep the others waiting. */
const startWithinMs = 5_000

type StartUp = Pick<Recovered, 'isTrusted' | 'meta'> & {
  bootId: string
  emptyManaged: () => Promise<void>
  held: HeldEntries
  writer: Pick<JournalWriter, 'noteClose'>
  lists: Lists
  drift: Pick<DriftWatch, 'look'>
  clock: Pick<ServerClock, 'now'>
  log: AgentLog
}

/**
 * Puts the lists in order by the journal alone: closes what is past its end, puts back what should stand and is
 * gone, empties what can't be accounted for; after a reboot closes all. Everything after it happens with the server.
 */
export async function startUp(deps: StartUp): Promise<void> {
  const { lists, held, clock, log } = deps
  if (!deps.isTrusted) await deps.emptyManaged()
  if (clock.now() === null && deps.meta.clock !== null) {
    log.warn('the host’s clock is not believed: everything stays closed until the server was reached')
  }
  if (hasRebooted(deps)) {
    for (const list of lists.all()) await forgetApplied(list, held)
    for (const one of held.all()) if (one.entry.desired === 'open') closeByItself(one, deps)
  }
  lists.adopt()
  const unsettled = [...held.all()].filter(
    ({ entry, applied }) => applied?.generation !== entry.generation || isOver(entry, clock.now()),
  )
  for (const { entry } of unsettled) lists.settle(entry.targetId, [entry.address])
  const lanesIdle = Promise.all(Array.from(lists.all(), (list) => list.lane.idle()))
  const work = deps.drift.look().then(() => lanesIdle)
  await Promise.race([work, new Promise((resolve) => setTimeout(resolve, startWithinMs))])
}

/**
 * Whether the host was booted since the journal's last word. A disk that a snapshot brought back looks just the
 * same, and its journal holds doors that the server closed long ago: so nothing is opened by a journal of another
 * boot, and the server is asked for everything (decision 18).
 */
export const hasRebooted = ({ meta, bootId }: { meta: Recovered['meta']; bootId: string }): boolean =>
  meta.clock !== null && meta.clock.bootId !== bootId

/** Closed of no epoch: it answers no order, and whatever the server says next counts. */
function closeByItself({ entry }: Held, { held, writer }: Pick<StartUp, 'held' | 'writer'>): void {
  writer.noteClose(held.put({ ...entry, desired: 'closed', until: 0, epoch: noEpoch }))
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
