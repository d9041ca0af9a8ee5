import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { QueueHealth } from '../platform/queue.ts'
import { type FoundAlarm, listFoundAlarms } from './alarm.query.ts'
import { type Alarm, type AlarmKind, alarmKinds, type QueueTrouble } from './alarm.schema.ts'

/** Many administrators look at once, at most this often is the database asked, in milliseconds. */
const freshMs = 500
/** Redis is asked for its memory policy at most this often, in milliseconds. */
const queueFreshMs = 15_000

/** What is wrong at the moment, most urgent first. */
export type Alarms = { list: () => Promise<Alarm[]> }

type AlarmDeps = {
  db: Kysely<DB>
  queueHealth: () => Promise<Pick<QueueHealth, 'degraded'>>
  /** Monotonic, in milliseconds. */
  now?: () => number
}

/** Builds them. Nothing is stored: what isn't so any more is gone at the next look. */
export function createAlarms({ db, queueHealth, now = () => performance.now() }: AlarmDeps): Alarms {
  const readFound = keepFor(freshMs, now, () => listFoundAlarms(db))
  const readQueue = keepFor(queueFreshMs, now, async () => (await queueHealth()).degraded)

  return {
    list: async () => {
      const [found, trouble] = await Promise.all([readFound(), readQueue()])
      const alarms = [...found.map(toAlarm), ...(trouble === null ? [] : [queueAlarm(trouble)])]
      return alarms.toSorted((a, b) => alarmKinds.indexOf(a.Kind) - alarmKinds.indexOf(b.Kind))
    },
  }
}

const alwaysUrgent: ReadonlySet<AlarmKind> = new Set(['closeFailed', 'agentConflict', 'needsCredentials'])

/** Kinds of which `ended` counts those that hold nothing open. */
const urgentUnlessEnded: ReadonlySet<AlarmKind> = new Set(['overdue', 'refreshFailed'])

/** A door that the kernel has ended is only unseen; one of another kind may stand. */
const toAlarm = ({ kind, count, ended, agents, agentCount }: FoundAlarm): Alarm => ({
  Kind: kind,
  IsUrgent: alwaysUrgent.has(kind) || (urgentUnlessEnded.has(kind) && ended < count),
  Count: count,
  Ended: ended,
  Agents: agents,
  AgentCount: agentCount,
})

const queueAlarm = (cause: QueueTrouble): Alarm => ({
  Kind: 'queueDegraded',
  IsUrgent: false,
  Count: 0,
  Ended: 0,
  Agents: [],
  AgentCount: 0,
  Cause: cause,
})

/** One read for all who ask within `ms`; a failed one is not kept. */
export function keepFor<T>(ms: number, now: () => number, read: () => Promise<T>): () => Promise<T> {
  let kept: { at: number; value: Promise<T> } | undefined
  return () => {
    if (kept !== undefined && now() - kept.at < ms) return kept.value
    const mine = { at: now(), value: read() }
    kept = mine
    mine.value.catch(() => {
      if (kept === mine) kept = undefined
    })
    return mine.value
  }
}
