import type { Kysely } from 'kysely'
import { closeCodes, linkLimits } from '#machines/protocol.ts'
import type { OrderRef } from '../entries/settle-entries.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { DeliveryMetrics } from '../metrics/metrics.ts'
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import { closeWindows } from '../refreshes/refresh.service.ts'
import { type AgentLink, createAgentLink, type LinkLook, type LinkSocket, superseded } from './agent-link.ts'
import { listAgentSessions } from './agent-sessions.query.ts'
import { createDatabaseClock } from './database-clock.ts'
import type { OrderJob } from './gateway.jobs.ts'
import type { Gateway } from './gateway.ts'
import { createLimiter } from './limiter.ts'
import { freeLinksOfDead, listHolders, readTruth, retireReplica, touchAgents } from './link.store.ts'
import { createListingRequests } from './listing-requests.ts'
import { finishDrained } from './report.store.ts'
import { createTakeOvers } from './take-overs.ts'

/** What the gateway is built with. */
export type GatewayDeps = {
  db: Kysely<DB>
  events: Pick<EventHub, 'publish'>
  log: Log
  metrics: DeliveryMetrics
  replica: string
  hostName: string
  serverVersion: string
  neededVersion: (version: string) => string | null
  /** Adds a job to a replica's queue; false when that failed, which costs a second, no order. */
  addJob: (replica: string, job: OrderJob) => Promise<boolean>
  /** Two living processes have this agent's identity: raises the alarm. */
  onConflict: (agentId: string) => Promise<void>
}

/** As a WebSocket says it when the other end is gone without a word. */
const noCode = 1006

/** A resync of at most so many agents runs at once on a replica. */
const resyncsAtOnce = 50
const tableReadMs = 1_000
const digestMs = 60_000
const listingRequestMs = 300
const lastSeenMs = 10_000
/** Longest random wait of an agent that is asked to move to another replica. */
const moveMs = 5_000

/**
 * This replica's share of the delivery: the links it holds, and the clock that drives them.
 *
 * Every second one look at the table finds what no nudge brought; every two seconds heartbeats go out with the
 * time of that look; every minute digests are compared (design §2).
 */
export function createGateway(deps: GatewayDeps) {
  const links = new Map<string, AgentLink>()
  const takeOvers = createTakeOvers()
  const clock = createDatabaseClock()
  const limitResync = createLimiter(resyncsAtOnce)
  const replica = { id: deps.replica, hostName: deps.hostName, version: deps.serverVersion }
  let truth = new Map<string, LinkLook>()
  let missedJobs = 0

  /** A new authenticated socket of an agent; an older one of the same agent on this replica is superseded. */
  function accept(agent: { agentId: string; externalIp: string }, socket: LinkSocket): AgentLink {
    const older = links.get(agent.agentId)
    const link = createAgentLink({ ...deps, now: clock.now, limitResync }, { ...agent, socket })
    if (older?.isHeard() === true && takeOvers.isFought(agent.agentId)) {
      link.end(closeCodes.conflict, 'conflict')
      return link
    }
    older?.end(closeCodes.superseded, superseded)
    links.set(agent.agentId, link)
    return link
  }

  /** The socket of a link closed, with the code its agent gave, if it gave one. */
  function release(link: AgentLink, code: number = noCode): void {
    if (link.hasLivingRival(code) && takeOvers.note(link.agentId))
      deps
        .onConflict(link.agentId)
        .catch((error: unknown) => deps.log.warn({ err: error }, 'a conflict could not be written down'))
    link.closed()
    if (links.get(link.agentId) === link) links.delete(link.agentId)
    tellSessions([link.agentId])
  }

  function nudge(orders: readonly OrderRef[]): void {
    const jobs = toJobs(orders)
    jobs.forEach(takeJob)
    if (jobs.length > 0) addJobs(jobs).catch(countMissed(jobs.length))
  }

  /** The guarantee behind the direct way: a job at the replica that holds the agent's link, whichever it is. */
  async function addJobs(jobs: readonly OrderJob[]): Promise<void> {
    const holders = new Map(
      (await listHolders(deps.db, [...new Set(jobs.map((job) => job.agentId))])).map((row) => [
        row.agentId,
        row.replica,
      ]),
    )
    for (const job of jobs) {
      const replica = holders.get(job.agentId)
      if (replica !== undefined && !(await deps.addJob(replica, job))) missedJobs += 1
    }
  }

  const countMissed = (jobs: number) => (error: unknown) => {
    missedJobs += jobs
    deps.log.warn({ err: error }, 'nudges were lost; the next look at the table finds their orders')
  }

  /** A job arrived here: whatever the agent's newest orders are by now, they go out. */
  function takeJob({ kind, agentId }: OrderJob): void {
    const link = links.get(agentId)
    if (kind === 'refresh') link?.nudgeRefresh()
    else link?.nudge()
  }

  async function drop(agentId: string): Promise<void> {
    links.get(agentId)?.end(closeCodes.superseded, 'dropped')
  }

  async function lookAtTable(): Promise<void> {
    const askedEpochs = new Map([...links].map(([agentId, link]) => [agentId, link.epoch()]))
    const seen = await readTruth(deps.db, replica, [...askedEpochs.keys()])
    clock.saw(seen.atMs)
    truth = new Map(
      seen.links.map((row) => [
        row.agentId,
        { ...row, atMs: seen.atMs, askedEpoch: askedEpochs.get(row.agentId) ?? 0 },
      ]),
    )
    for (const { agentId, unsettled, hasDueRefresh } of seen.links) {
      if (unsettled) links.get(agentId)?.nudge()
      if (hasDueRefresh) links.get(agentId)?.nudgeRefresh()
    }
  }

  async function heartbeat(): Promise<void> {
    for (const link of links.values()) {
      link.beat(truth.get(link.agentId) ?? null)
      if (link.isClosed()) release(link)
    }
    tellSessions(await freeLinksOfDead(deps.db, deps.replica))
  }

  async function compareDigests(): Promise<void> {
    for (const link of links.values()) await link.compareAll()
    await closeWindows(deps.db)
    await finishDrained(deps.db)
  }

  /** Pages that show an agent as away or back. */
  function tellSessions(agentIds: readonly string[]): void {
    if (agentIds.length === 0) return
    listAgentSessions(deps.db, agentIds)
      .then(deps.events.publish)
      .catch((error: unknown) => deps.log.warn({ err: error }, 'pages were not told about an agent'))
  }

  /** What the replica does over and over; the ticker runs them. */
  const duties = [
    { name: 'table', everyMs: tableReadMs, run: lookAtTable },
    { name: 'heartbeat', everyMs: linkLimits.heartbeatMs, run: heartbeat },
    { name: 'lastSeen', everyMs: lastSeenMs, run: () => touchAgents(deps.db, [...links.keys()]) },
    { name: 'digests', everyMs: digestMs, run: compareDigests },
    {
      name: 'listings',
      everyMs: listingRequestMs,
      run: createListingRequests({ db: deps.db, log: deps.log, links }),
    },
  ] as const

  /** Asks the agents to move, waits until they did or the time is over, and gives up the rest. */
  async function stop(graceMs: number): Promise<void> {
    const spread = Math.min(moveMs, graceMs / 2)
    for (const link of links.values()) link.move(Math.floor(Math.random() * spread))
    const until = performance.now() + graceMs
    while (links.size > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50))
    for (const link of links.values()) link.end(closeCodes.moving, 'server stops')
    await retireReplica(deps.db, deps.replica)
  }

  const gateway: Gateway = { nudge, drop }
  return {
    ...gateway,
    accept,
    release,
    takeJob,
    duties,
    stop,
    linkCount: () => links.size,
    missedJobs: () => missedJobs,
  }
}

/** One job for each agent and kind, naming its entries; of a list that devices fetch, their agents have to hear. */
function toJobs(orders: readonly OrderRef[]): OrderJob[] {
  const jobs = new Map<string, OrderJob>()
  for (const { agentId, refresherIds, desired, entryId, generation } of orders) {
    const kind = agentId === null ? 'refresh' : desired === 'open' ? 'grant' : 'revoke'
    for (const id of agentId === null ? (refresherIds ?? []) : [agentId]) {
      const job = jobs.get(`${kind} ${id}`) ?? { kind, agentId: id, entryIds: [], generation: 0 }
      if (kind !== 'refresh') job.entryIds.push(entryId)
      job.generation = Math.max(job.generation, generation)
      jobs.set(`${kind} ${id}`, job)
    }
  }
  return [...jobs.values()]
}
