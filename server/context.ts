import type { Kysely } from 'kysely'
import type { Alarms } from './alarms/alarm.service.ts'
import type { Discovery } from './discovery/discovery.service.ts'
import type { Rights } from './entries/rights.ts'
import type { EventHub } from './events/event-hub.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { DB } from './platform/database.types.ts'
import type { Log } from './platform/log.ts'
import type { PasswordHasher } from './platform/password.ts'
import type { QueueHealth } from './platform/queue.ts'
import type { Sealer } from './platform/secrets.ts'

/** Everything built once per replica. A feature takes the members it uses: `Pick<Deps, 'db' | 'rights'>`. */
export type Deps = {
  config: Config
  /** Separate small pools, so that a long list can't hold up a revoke (decision 37). */
  db: {
    /** Grants, revokes, sign-in, entries. */
    grants: Kysely<DB>
    /** Lists and screens. */
    lists: Kysely<DB>
    /** Sweeps, auditor, gateway reads. */
    background: Kysely<DB>
  }
  clock: Clock
  log: Log
  sealer: Sealer
  passwords: PasswordHasher
  rights: Rights
  gateway: Gateway
  events: EventHub
  /** Where browsers are, beside the portal's own look. */
  discovery: Discovery
  /** What somebody has to look at now. */
  alarms: Alarms
  /** Hash over both built bundles; '' when the web is not built. */
  bundleHash: string
  /** How the queue is at the moment, and why it is not well. */
  queueHealth: () => Promise<QueueHealth>
}
