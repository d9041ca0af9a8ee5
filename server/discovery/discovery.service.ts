import type { Kysely } from 'kysely'
import type { Certificate } from '../platform/certificate.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import type { Sealer } from '../platform/secrets.ts'
import { readSettings } from '../settings/setting.query.ts'
import type { AdminStatus, SystemStatus } from '../status/status.schema.ts'
import { createLookupApp, lookupLimit } from './lookup.routes.ts'
import { createLookupListeners } from './lookup-listeners.ts'
import { familyOrigins, noLookup, planLookup } from './lookup-plan.ts'
import { createSight, type Sight } from './sight.ts'

/** What the system status tells of address discovery. */
export type LookupStatus = Pick<SystemStatus, 'IPApi' | 'LookupPorts' | 'IPv4Origin' | 'IPv6Origin'>

/** Address discovery of this replica. */
export type Discovery = {
  /** Reads the settings anew and starts or stops the lookup ports as they say; a duty, and due after each saving. */
  look: () => Promise<void>
  /** What browsers are told; a few seconds behind the settings. */
  status: () => LookupStatus
  /** Origins that pages may ask beside their own. */
  connectSources: () => readonly string[]
  /** What stands in discovery's way, for the console. */
  warnings: () => AdminStatus['Warnings']
  /** Takes note of a request to the portal's own port. */
  sight: Sight
  stop: () => Promise<void>
}

/** Builds it; nothing listens before the first `look`. */
export function createDiscovery({
  config,
  db,
  sealer,
  isGrantable,
  certificate,
  clock,
  log,
}: {
  config: Config
  db: Kysely<DB>
  sealer: Pick<Sealer, 'hmac'>
  isGrantable: (address: string) => boolean
  certificate: Certificate | undefined
  clock: Clock
  log: Log
}): Discovery {
  const origins = familyOrigins(config)
  const named = Object.values(origins).filter((origin) => origin !== '')
  let plan = noLookup
  let sources: readonly string[] = named
  const sight = createSight({ config, db, sealer, isGrantable, portalPort: () => plan.portalPort })
  const limit = lookupLimit(clock)
  const listeners = createLookupListeners({
    config,
    certificate: config.publicUrl.startsWith('https:') ? certificate : undefined,
    fetchOf: (port) => createLookupApp({ config, sight, limit, log, port }).fetch,
    log,
  })

  /** Without the ports that were to listen but can't. */
  const ports = () =>
    plan.ports.filter(({ port, at }) => {
      const isOurs = plan.listen.some((choice) => choice.at === at)
      return !isOurs || listeners.isRunning(port)
    })

  async function look(): Promise<void> {
    plan = planLookup(config, await readSettings(db))
    await listeners.follow(plan.listen)
    sources = [...new Set([...ports().map(({ at }) => `${plan.api}:${at}`), ...named])]
  }

  return {
    look,
    sight,
    status: () => ({
      IPApi: plan.api,
      LookupPorts: ports().map(({ port, at }) => ({ Port: port, At: at })),
      ...origins,
    }),
    connectSources: () => sources,
    warnings: () => [
      ...(plan.isCertificateMissing ? [{ Code: 'lookupCertificate', Extra: config.publicUrl }] : []),
      ...listeners.faults(),
    ],
    stop: () => listeners.follow([]),
  }
}
