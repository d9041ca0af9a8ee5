import process, { cpuUsage, memoryUsage } from 'node:process'
import type { Kysely } from 'kysely'
import { type DriftReport, driftSchema } from '#machines/protocol.ts'
import { countDoors, type DoorCounts } from '../alarms/alarm.query.ts'
import type { DB } from '../platform/database.types.ts'
import { serverVersion } from '../version.ts'
import { createRegistry } from './registry.ts'

/** What this replica is asked for at a scrape, beside the database. */
export type Sources = {
  /** Repairs of the auditor: anything but 0 is a fault somewhere. */
  repairs: () => number
  /** Nudges that did not get through; the next look at the table made each good. */
  failedNudges: () => number
}

/** What delivery tells while it works. */
export type DeliveryMetrics = {
  /** A door was seen open or closed, so many seconds after that was ordered. */
  settled: (act: 'grant' | 'revoke', seconds: number) => void
  drifted: (drifts: readonly Pick<DriftReport, 'kind' | 'count'>[]) => void
}

/** The metrics of a replica. */
export type Metrics = DeliveryMetrics & { text: () => Promise<string> }

/** From a nudge that finds its agent at once to a door that waited for an agent's return, in seconds. */
const latencyBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 3600]

/** What the database counts is kept for so long, in milliseconds: however often somebody scrapes, it costs the same. */
const freshMs = 5_000

/**
 * Every metric of the product, one table. What is counted in the database is the same on each replica; the counters
 * and latencies are this replica's own.
 */
export function createMetrics({
  db,
  sources,
  now = () => performance.now(),
}: {
  db: Kysely<DB>
  sources: Sources
  now?: () => number
}): Metrics {
  const registry = createRegistry()
  let doors: DoorCounts | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  registry.value({ name: 'knoc_build_info', help: 'The server’s version.' }, 'gauge', () => [
    { value: 1, labels: { version: serverVersion } },
  ])
  registry.value({ name: 'knoc_database_up', help: 'Whether the database answered.' }, 'gauge', () =>
    doors === null ? 0 : 1,
  )
  registry.value(
    { name: 'knoc_liveness_repairs_total', help: 'Repairs of the auditor; anything but 0 is a fault.' },
    'counter',
    sources.repairs,
  )
  for (const [name, field, help] of doorGauges)
    registry.value({ name, help }, 'gauge', () => (doors === null ? null : doors[field]))
  registry.value({ name: 'knoc_agents', help: 'Agents by state.' }, 'gauge', () =>
    doors === null
      ? null
      : [
          { value: doors.agentsOnline, labels: { state: 'online' } },
          { value: doors.agentsAway, labels: { state: 'away' } },
          { value: doors.agentsAwaiting, labels: { state: 'awaiting' } },
        ],
  )
  const latencies = {
    grant: registry.histogram(
      { name: 'knoc_grant_latency_seconds', help: 'From the order to the door seen open.' },
      latencyBounds,
    ),
    revoke: registry.histogram(
      { name: 'knoc_revoke_latency_seconds', help: 'From the order to the door seen closed.' },
      latencyBounds,
    ),
  }
  const drift = registry.counter(
    { name: 'knoc_drift_total', help: 'Entries that agents found different from their orders.' },
    { name: 'kind', values: driftSchema.shape.kind.options },
  )
  registry.value(
    { name: 'knoc_nudges_failed_total', help: 'Nudges that were lost; each cost a second, no order.' },
    'counter',
    sources.failedNudges,
  )
  for (const [name, type, help, read] of processValues) registry.value({ name, help }, type, read)

  /** One read for all who ask meanwhile. Without the database the gauges are left out, and that is told. */
  async function refresh(): Promise<void> {
    if (now() - readAt < freshMs) return
    reading ??= countDoors(db)
      .then(
        (counted) => void (doors = counted),
        () => void (doors = null),
      )
      .finally(() => {
        readAt = now()
        reading = undefined
      })
    await reading
  }

  return {
    settled: (act, seconds) => latencies[act].observe(Math.max(0, seconds)),
    drifted: (drifts) => {
      for (const { kind, count } of drifts) drift.add(kind, count)
    },
    text: async () => {
      await refresh()
      return registry.text()
    },
  }
}

const doorGauges: readonly (readonly [string, keyof DoorCounts, string])[] = [
  ['knoc_close_failed', 'closeFailed', 'Doors whose close failed and is tried again.'],
  [
    'knoc_list_refresh_failed',
    'listRefreshFailed',
    'Devices that could not be told that the list they fetch changed.',
  ],
  ['knoc_debts', 'debts', 'Doors that wait to be seen closed.'],
  ['knoc_overdue_doors', 'overdue', 'Doors past their end whose agent is away.'],
  ['knoc_open_entries', 'openEntries', 'Entries ordered open.'],
  ['knoc_orders_unsettled', 'ordersUnsettled', 'Orders whose result was not seen yet.'],
  ['knoc_sessions', 'sessions', 'Sessions of users.'],
]

const processValues: readonly (readonly [string, 'gauge' | 'counter', string, () => number])[] = [
  [
    'process_cpu_seconds_total',
    'counter',
    'User and system CPU time, in seconds.',
    () => (cpuUsage().user + cpuUsage().system) / 1_000_000,
  ],
  ['process_resident_memory_bytes', 'gauge', 'Resident memory, in bytes.', () => memoryUsage().rss],
  [
    'process_start_time_seconds',
    'gauge',
    'Start of the process since the Unix epoch, in seconds.',
    () => Date.now() / 1_000 - process.uptime(),
  ],
]
