import type { JournalEntry } from '#machines/journal.ts'
import type { HeldEntries } from './held-entries.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { Lists } from './lists.ts'
import type { AgentLog } from './log.ts'

/** Closed entries are kept at least this long, so that an older open that comes late is known to be old. */
const closedKeptMs = 600_000

/** Builds what lets go of targets and closed entries; done at each welcome, when the server has named all it knows. */
export function createForgetting(deps: {
  held: HeldEntries
  lists: Lists
  writer: Pick<JournalWriter, 'noteForgotten'>
  closeHeld: (entries: readonly JournalEntry[]) => void
  monotonicNow: () => number
  log: AgentLog
}): { dropOthers: (named: ReadonlySet<string>) => void; dropOldCloses: () => void } {
  const openEntries = (targetId: string): JournalEntry[] =>
    Array.from(deps.held.ofTarget(targetId), (held) => held.entry).filter(({ desired }) => desired === 'open')

  /** Targets the server no longer names: their entries have no reason any more; empty, they are forgotten. */
  const dropOthers = (named: ReadonlySet<string>) => {
    for (const list of deps.lists.all()) {
      for (const id of [...list.targets.keys()].filter((known) => !named.has(known))) {
        deps.closeHeld(openEntries(id))
        void forgetWhenClosed(id)
      }
    }
  }

  const forgetWhenClosed = async (targetId: string) => {
    const list = deps.lists.find(targetId)
    if (list === undefined) return
    await list.lane.idle()
    const isClosed = Array.from(deps.held.ofTarget(targetId)).every(
      ({ entry, applied }) => entry.desired === 'closed' && applied?.stands === false,
    )
    if (!isClosed || deps.lists.find(targetId) !== list) return
    if (list.targets.size === 1 && (await list.driver.list()) === 'unlistable') await list.driver.empty()
    deps.lists.forget(targetId)
    deps.held.forgetTarget(targetId)
    deps.writer.noteForgotten({ targets: [targetId] })
    deps.log.info({ target: targetId }, 'a target is forgotten')
  }

  /** With a new link an older order can't come any more, but for what is still on its way: closed ones may go. */
  const dropOldCloses = () => {
    const settled = [...deps.held.all()].filter(
      ({ entry, applied, touchedAt }) =>
        entry.desired === 'closed' &&
        applied?.stands === false &&
        deps.monotonicNow() - touchedAt > closedKeptMs,
    )
    for (const { entry } of settled) deps.held.forget(entry.targetId, entry.address)
    deps.writer.noteForgotten({ entries: settled.map(({ entry }) => entry) })
  }

  return { dropOthers, dropOldCloses }
}
