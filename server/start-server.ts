import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ensureFirstAdmin } from './admins/first-admin.ts'
import { mayOpen, minimumRequiredAgentVersion } from './agents/compatibility.ts'
import { alarmOfCopy } from './agents/link-authentication.ts'
import { createAlarms } from './alarms/alarm.service.ts'
import { createTruthWatch } from './alarms/truth-watch.ts'
import { createApp } from './app.ts'
import type { Deps } from './context.ts'
import { createDiscovery } from './discovery/discovery.service.ts'
import { createAuditor } from './entries/auditor.ts'
import { createRights } from './entries/create-rights.ts'
import { sweepOnce } from './entries/sweep.ts'
import { createEventHub } from './events/create-event-hub.ts'
import { createPostgresTransport } from './events/postgres-transport.ts'
import { createRedisTransport } from './events/redis-transport.ts'
import { createGateway } from './gateway/create-gateway.ts'
import { type OrderJob, orderJobSchema, toJobId } from './gateway/gateway.jobs.ts'
import { takeUpgrade } from './gateway/take-upgrade.ts'
import { dropDoubtedAddresses, dropUntrustedClaims, giveUpFailedClicks } from './grants/give-up.ts'
import { createGrantService } from './grants/grant.service.ts'
import { evaluateLicence } from './licence/licence.service.ts'
import { createMetrics } from './metrics/metrics.ts'
import { openDatabase } from './open-database.ts'
import { listOwnAddresses } from './own-addresses.ts'
import { readPageFiles } from './pages/page-files.ts'
import { openCertificate } from './platform/certificate.ts'
import { systemClock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { createPools } from './platform/database.ts'
import { type Duty, startDuties } from './platform/duties.ts'
import { isGrantable } from './platform/http/grantable-address.ts'
import { startListener } from './platform/listener.ts'
import { startDenoListener } from './platform/listener-deno.ts'
import type { Log } from './platform/log.ts'
import { createPasswordHasher } from './platform/password.ts'
import { createQueue, defineJob } from './platform/queue.ts'
import { withinMilliseconds } from './platform/within.ts'
import { pruneOnce, pruneReplicas } from './prune.query.ts'
import { endLeftBehind } from './sessions/session.service.ts'
import { serverVersion } from './version.ts'

/** A server that runs. */
export type RunningServer = {
  port: number
  /** Finishes what it does, moves its agents, closes everything; the embedded database last. */
  stop: () => Promise<void>
  /** Repairs of the auditor so far: anything but 0 is a fault somewhere. */
  repairs: () => number
}

const grantJob = defineJob('grant', orderJobSchema)
const revokeJob = defineJob('revoke', orderJobSchema)
const refreshJob = defineJob('refresh', orderJobSchema)
const jobs = { grant: grantJob, revoke: revokeJob, refresh: refreshJob }

/** How long a stop waits for agents to move and requests to end, each in milliseconds. */
const moveGraceMs = 6_000
const requestGraceMs = 5_000
/** Longer than either; what takes longer hangs. */
const stopStepMs = 10_000

/**
 * The composition root: everything a replica is made of, built once, in the order in which it depends on each
 * other, and taken down in reverse.
 *
 * @param announce shows the first administrator's random password; called once in an installation's life.
 */
export async function startServer(
  config: Config,
  log: Log,
  announce: (admin: { userName: string; password: string }) => void,
): Promise<RunningServer> {
  const database = await openDatabase(config, log)
  const pools = createPools(database.connection)
  const db = { grants: pools.grants.db, lists: pools.lists.db, background: pools.background.db }
  const passwords = createPasswordHasher()
  await ensureFirstAdmin({ db, passwords, config, log }, announce)

  const queue = createQueue({
    replica: config.replica,
    jobs: Object.values(jobs),
    redisUrl: config.redisUrl,
    databaseConnection: database.connection,
    log,
  })
  const events = createEventHub(hintTransport(config, database.connection))
  const metrics = createMetrics({
    db: db.background,
    sources: { repairs: () => auditor.repairsTotal(), failedNudges: () => gateway.missedJobs() },
  })
  const gateway = createGateway({
    db: db.background,
    events,
    log,
    metrics,
    replica: config.replica,
    hostName: hostname(),
    serverVersion,
    neededVersion: (version) => (mayOpen(version) ? null : minimumRequiredAgentVersion),
    addJob: (replica, job) => queue.add(jobs[job.kind], replica, job, { jobId: toJobId(job) }),
    onConflict: (agentId) => alarmOfCopy(db.background, agentId),
  })
  const takeJob = async (job: OrderJob): Promise<void> => gateway.takeJob(job)
  queue.process({ grant: takeJob, revoke: takeJob, refresh: takeJob })

  const rightsDeps = { db: db.grants, gateway, events }
  const rights = createRights(rightsDeps)
  const ownAddresses = listOwnAddresses()
  const mayBeGranted = (address: string) =>
    isGrantable(address, {
      ownAddresses: ownAddresses(),
      proxies: config.trustedProxies,
      allowLoopback: config.grantLoopback,
    })
  const grants = createGrantService({ ...rightsDeps, rights, log, isGrantable: mayBeGranted })
  const certificate = config.tls === undefined ? undefined : await openCertificate(config.tls, log)
  const discovery = createDiscovery({
    config,
    db: db.grants,
    sealer: database.sealer,
    isGrantable: mayBeGranted,
    certificate,
    clock: systemClock,
    log,
  })
  await discovery.look()
  const auditor = createAuditor({ ...rightsDeps, rights, reads: db.background, log })
  const pages = await readPageFiles(fileURLToPath(new URL('../web/dist', import.meta.url)), config)
  const deps: Deps = {
    config,
    db,
    clock: systemClock,
    log,
    sealer: database.sealer,
    passwords,
    rights,
    gateway,
    events,
    discovery,
    alarms: createAlarms({ db: db.lists, queueHealth: queue.health }),
    bundleHash: pages.bundleHash,
    queueHealth: queue.health,
  }
  const app = createApp({ ...deps, grants, pages, metrics })
  const listen = config.listener === 'deno' ? startDenoListener : startListener
  const sweepDeps = { ...rightsDeps, db: db.background }
  const truthWatch = createTruthWatch({ db: db.background, replica: config.replica })
  await truthWatch.begin()
  const stopDuties = startDuties(
    [
      ...gateway.duties.map((duty) => (duty.name === 'table' ? followedBy(duty, truthWatch.saw) : duty)),
      { name: 'sweep', everyMs: 250, run: () => sweepOnce(sweepDeps) },
      { name: 'auditor', everyMs: 10_000, run: auditor.round },
      { name: 'extended sessions', everyMs: 5_000, run: () => endLeftBehind(db.background, { rights }) },
      { name: 'failed clicks', everyMs: 5_000, run: () => giveUpFailedClicks(db.background, { rights }) },
      {
        name: 'doubted addresses',
        everyMs: 5_000,
        run: () => dropDoubtedAddresses(db.background, { grants }),
      },
      {
        name: 'untrusted claims',
        // Like every other change that takes a right away, this one closes within a second.
        everyMs: 500,
        run: () => dropUntrustedClaims(db.background, { grants }),
      },
      { name: 'address discovery', everyMs: 2_000, run: () => discovery.look() },
      { name: 'certificate', everyMs: 10_000, run: async () => certificate?.look() },
      { name: 'licence', everyMs: 60_000, run: () => evaluateLicence(db.background) },
      { name: 'prune', everyMs: 3_600_000, run: () => pruneOnce(db.background) },
      { name: 'old replicas', everyMs: 3_600_000, run: forgetReplicas },
    ],
    log,
  )
  async function forgetReplicas(): Promise<void> {
    for (const replica of await pruneReplicas(db.background)) await queue.forget(replica)
  }
  const listener = await listen({
    config,
    log,
    fetch: app.fetch,
    certificate: config.isTlsForAll ? certificate : undefined,
    onUpgrade: takeUpgrade({
      db: db.grants,
      sealer: database.sealer,
      server: config.publicUrl,
      trustedProxies: config.trustedProxies,
      gateway,
      log,
    }),
  })
  log.info({ port: listener.port, version: serverVersion }, 'ready')

  /** In order, and none of it for ever: what hangs is named and left to the end of the process. */
  async function stop(): Promise<void> {
    const steps: [string, () => Promise<unknown>][] = [
      ['agents', () => gateway.stop(moveGraceMs)],
      ['requests', () => listener.stop(requestGraceMs)],
      ['duties', stopDuties],
      ['lookup ports', discovery.stop],
      ['queue', queue.close],
      ['hints', () => events.close()],
      ['connections', pools.close],
    ]
    for (const [name, step] of steps)
      await withinMilliseconds(step(), stopStepMs).catch((error: unknown) =>
        log.warn({ step: name, err: error }, 'a part of the server did not stop in time'),
      )
    await database.stop()
  }

  return { port: listener.port, stop, repairs: auditor.repairsTotal }
}

/** A duty, and what is to be done each time it succeeded. */
const followedBy = (duty: Duty, next: () => Promise<void>): Duty => ({
  ...duty,
  run: async () => {
    const more = await duty.run()
    await next()
    return more
  },
})

/** One replica on the embedded database has nobody to tell. */
function hintTransport(
  config: Config,
  connection: Parameters<typeof createPostgresTransport>[0],
): Parameters<typeof createEventHub>[0] {
  if (config.redisUrl !== undefined) return createRedisTransport(config.redisUrl)
  return config.databaseUrl === undefined ? null : createPostgresTransport(connection)
}
