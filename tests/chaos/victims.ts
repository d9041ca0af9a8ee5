import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '#tests/support/until.ts'
import { killProgram, loseEntries, reloadPrograms } from './door-victims.ts'
import type { PathEvent } from './path.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'
import { replicaPorts, type StormAgent, type World } from './world.ts'

/** What an attack has at hand. `later` runs something beside the schedule that has to be over before the storm is. */
export type Arena = {
  world: World
  random: Random
  timeline: Timeline
  tell: (event: PathEvent) => void
  later: (name: string, work: () => Promise<void>) => void
  isBusy: (name: string) => boolean
}

/** How long an agent that follows WhenServerSilent hears nothing; more than the 30 s that its knoc has. */
const silenceMs = 36_000
const hour = 3_600_000

/** One kind of attack: how often it is drawn among the others, and what it does. False: not now. */
type Victim = { share: number; attack: (arena: Arena) => Promise<boolean> }

const victimTable = {
  server: { share: 8, attack: killReplica },
  servers: { share: 2, attack: killBothReplicas },
  serverStop: { share: 3, attack: stopReplica },
  agent: { share: 10, attack: (arena) => withAgent(arena, (agent) => restartAgent(arena, agent)) },
  agentSkewed: { share: 3, attack: (arena) => withAgent(arena, (agent) => restartSkewed(arena, agent)) },
  agentReboot: { share: 2, attack: (arena) => withAgent(arena, (agent) => reboot(arena, agent)) },
  journalSnapshot: { share: 3, attack: (arena) => withAgent(arena, (agent) => bringBack(arena, agent)) },
  clockStep: { share: 5, attack: stepClock },
  linkCut: { share: 10, attack: cutLink },
  linkHalfOpen: { share: 6, attack: (arena) => withAgent(arena, (agent) => halfOpen(arena, agent)) },
  linkAway: { share: 4, attack: (arena) => withAgent(arena, (agent) => takeLinkAway(arena, agent)) },
  linkSlow: { share: 4, attack: (arena) => withAgent(arena, (agent) => slowLink(arena, agent)) },
  silentLink: { share: 2, attack: silenceLink },
  silentReplica: { share: 2, attack: silenceReplica },
  ordersMuddled: { share: 6, attack: muddleOrders },
  flush: { share: 5, attack: loseEntries },
  programKill: { share: 5, attack: killProgram },
  programReload: { share: 4, attack: reloadPrograms },
  redisKill: { share: 4, attack: (arena) => withRedis(arena, restartRedis) },
  redisFlush: { share: 4, attack: (arena) => withRedis(arena, flushRedis) },
  redisHang: { share: 3, attack: (arena) => withRedis(arena, hangRedis) },
  postgresKill: { share: 4, attack: killPostgres },
  postgresReadOnly: { share: 4, attack: makeReadOnly },
  postgresCut: { share: 4, attack: cutDatabase },
  postgresHang: { share: 3, attack: hangDatabase },
} as const satisfies Record<string, Victim>

export type VictimName = keyof typeof victimTable

/** Every kind of attack; a report counts them by these names. */
export const victimNames = Object.keys(victimTable) as VictimName[]

const drawn = victimNames.flatMap((name) => Array.from({ length: victimTable[name].share }, () => name))

/** Draws an attack and carries it out; which, or null when it could not be made just now. */
export async function attackOnce(arena: Arena): Promise<VictimName | null> {
  const name = drawn[arena.random.below(drawn.length)] ?? 'linkCut'
  return attack(arena, name)
}

/** Carries one attack out; null when it could not be made just now. */
export async function attack(arena: Arena, name: VictimName): Promise<VictimName | null> {
  return (await victimTable[name].attack(arena)) ? name : null
}

async function killReplica({ world, random, timeline, later, isBusy }: Arena): Promise<boolean> {
  const port = random.of(replicaPorts)
  if (isBusy(`replica ${port}`)) return false
  timeline.note(`kills the replica on ${port}`)
  await world.killReplica(port)
  later(`replica ${port}`, async () => {
    await wait(random.below(1_500))
    await world.startReplica(port)
    timeline.note(`the replica on ${port} is back`)
  })
  return true
}

async function killBothReplicas(arena: Arena): Promise<boolean> {
  const { world, random, timeline, later, isBusy } = arena
  if (replicaPorts.some((port) => isBusy(`replica ${port}`))) return false
  timeline.note('kills both replicas')
  await Promise.all(replicaPorts.map((port) => world.killReplica(port)))
  for (const port of replicaPorts)
    later(`replica ${port}`, async () => {
      await wait(random.below(2_500))
      await world.startReplica(port)
      timeline.note(`the replica on ${port} is back`)
    })
  return true
}

/** SIGTERM: it asks its agents to move and ends well. */
async function stopReplica({ world, random, timeline, later, isBusy }: Arena): Promise<boolean> {
  const port = random.of(replicaPorts)
  const running = world.replicas.get(port)
  if (running === undefined || isBusy(`replica ${port}`)) return false
  timeline.note(`stops the replica on ${port}`)
  world.replicas.delete(port)
  later(`replica ${port}`, async () => {
    await running.stop()
    await world.startReplica(port)
    timeline.note(`the replica on ${port} is back`)
  })
  return true
}

/** One of the agents, unless something is being done to it. */
async function withAgent(arena: Arena, act: (agent: StormAgent) => Promise<void>): Promise<boolean> {
  const agent = arena.world.agents[arena.random.below(arena.world.agents.length)]
  if (agent === undefined || arena.isBusy(agent.name) || !agent.isUp) return false
  await act(agent)
  return true
}

/** Kills it, lets something happen meanwhile, and starts it again. */
async function whileDead(
  { world, random, timeline, later }: Arena,
  agent: StormAgent,
  how: string,
  act: () => Promise<void> | void,
): Promise<void> {
  timeline.note(`kills ${agent.name}${how}`, [])
  await world.killAgent(agent)
  later(agent.name, async () => {
    await act()
    await wait(random.below(1_500))
    world.startAgent(agent)
    await agent.process.said(/"state":/)
    timeline.note(`${agent.name} runs again`)
  })
}

const restartAgent = (arena: Arena, agent: StormAgent) => whileDead(arena, agent, '', () => undefined)

/** It comes back an hour or so off, without having seen a jump. */
const restartSkewed = (arena: Arena, agent: StormAgent) =>
  whileDead(arena, agent, ' and sets its clock meanwhile', () => {
    agent.clock.wallOffsetMs = drawOffset(arena.random)
  })

/** What a boot takes along: what doors hold, /run, the boot's id, the monotonic clock. */
const reboot = (arena: Arena, agent: StormAgent) =>
  whileDead(arena, agent, ': its host boots anew', async () => {
    for (const door of arena.world.doors) if (door.agent === agent.name) await door.boot()
    rmSync(arena.world.runFolderOf(agent), { recursive: true, force: true })
    Object.assign(agent.clock, { bootId: `boot-${arena.random.next()}`, bootedAtMs: Date.now() })
  })

const journalFiles = ['journal.db', 'journal.db-wal', 'journal.db-shm'] as const

/** A snapshot of its journal, and seconds later that snapshot in the place of the journal. */
async function bringBack(arena: Arena, agent: StormAgent): Promise<void> {
  const kept = `${agent.data}.snapshot`
  rmSync(kept, { recursive: true, force: true })
  for (const file of journalFiles)
    if (existsSync(join(agent.data, file))) cpSync(join(agent.data, file), join(kept, file))
  arena.timeline.note(`takes a snapshot of ${agent.name}'s journal`)
  arena.later(agent.name, async () => {
    await wait(1_000 + arena.random.below(4_000))
    await arena.world.killAgent(agent)
    arena.tell({ type: 'agent.forgot', agent: agent.name })
    for (const file of journalFiles) {
      rmSync(join(agent.data, file), { force: true })
      if (existsSync(join(kept, file))) cpSync(join(kept, file), join(agent.data, file))
    }
    arena.timeline.note(`brings the snapshot of ${agent.name}'s journal back`)
    arena.world.startAgent(agent)
    await agent.process.said(/"state":/)
  })
}

const drawOffset = (random: Random): number => {
  const sign = random.below(2) === 0 ? 1 : -1
  return sign * (hour + random.below(3 * hour))
}

async function stepClock({ world, random, timeline }: Arena): Promise<boolean> {
  const agent = world.agents[random.below(world.agents.length)]
  if (agent === undefined) return false
  const offset = drawOffset(random)
  timeline.note(`sets the clock of ${agent.name} to ${(offset / hour).toFixed(1)} h off`)
  world.setClock(agent, { ...agent.clock, wallOffsetMs: offset })
  return true
}

async function cutLink(arena: Arena): Promise<boolean> {
  return withAgent(arena, async (agent) => {
    arena.timeline.note(`cuts the link of ${agent.name}`)
    arena.tell({ type: 'agent.blind', agent: agent.name })
    await agent.proxy.break('cut')
  })
}

/** The path is gone without a word, or only what servers say: the ends notice by their heartbeats. */
async function halfOpen({ tell, timeline, random, later }: Arena, agent: StormAgent): Promise<void> {
  const how = random.of(['dead', 'mute'])
  timeline.note(`leaves the link of ${agent.name} half open (${how})`)
  tell({ type: 'agent.blind', agent: agent.name })
  await agent.proxy.break(how)
  later(agent.name, async () => {
    await wait(random.below(2) === 0 ? random.below(3_000) : 9_000)
    await agent.proxy.break('bury')
  })
}

async function takeLinkAway({ tell, timeline, random, later }: Arena, agent: StormAgent): Promise<void> {
  const how = random.of(['refused', 'nowhere'])
  timeline.note(`lets nobody through to the server from ${agent.name} (${how})`)
  tell({ type: 'agent.blind', agent: agent.name })
  await agent.proxy.aim(how === 'refused' ? [] : ['nowhere'])
  await agent.proxy.break('cut')
  later(agent.name, async () => {
    await wait(1_000 + random.below(4_000))
    await agent.proxy.aim(agent.targets)
    timeline.note(`the way from ${agent.name} is free again`)
  })
}

async function slowLink({ timeline, random, later }: Arena, agent: StormAgent): Promise<void> {
  const delayMs = 20 + random.below(380)
  timeline.note(`makes the link of ${agent.name} ${delayMs} ms slow`)
  await agent.proxy.delay(delayMs)
  later(agent.name, async () => {
    await wait(1_000 + random.below(3_000))
    await agent.proxy.delay(0)
  })
}

/** Orders come twice, late and out of order for a while, on the links of every agent. */
async function muddleOrders({ world, timeline, random, later, isBusy }: Arena): Promise<boolean> {
  if (isBusy('orders')) return false
  timeline.note('muddles orders')
  for (const { relay } of world.agents) await relay.muddle(random.next())
  later('orders', async () => {
    await wait(4_000 + random.below(8_000))
    for (const { relay } of world.agents) await relay.muddle(null)
    timeline.note('orders come as they were sent')
  })
  return true
}

/**
 * Long enough for WhenServerSilent: the agent that has such a knoc is told nothing. Either it hears nothing at all, or
 * its replica goes on beating without the database and says since when it knows no truth.
 */
async function silenceLink({ world, tell, timeline, later, isBusy }: Arena): Promise<boolean> {
  const agent = world.agents.at(-1)
  if (agent === undefined || isBusy(agent.name) || !agent.isUp) return false
  timeline.note(`silences the server for ${agent.name}`)
  await agent.proxy.aim(['nowhere'])
  tell({ type: 'agent.blind', agent: agent.name })
  await agent.proxy.break('dead')
  tell({ type: 'agent.silenced', agent: agent.name })
  later(agent.name, async () => {
    await wait(silenceMs)
    tell({ type: 'agent.heard', agent: agent.name })
    await agent.proxy.aim(agent.targets)
    await agent.proxy.break('bury')
    timeline.note(`the server can be heard by ${agent.name} again`)
  })
  return true
}

/** The agent gets a replica that loses its database; everybody else has the other one. */
async function silenceReplica({ world, tell, timeline, later, isBusy }: Arena): Promise<boolean> {
  const agent = world.agents.at(-1)
  const [, lame] = replicaPorts
  if (agent === undefined || isBusy(agent.name) || !agent.isUp) return false
  if (!world.replicas.has(lame) || isBusy(`replica ${lame}`) || isBusy('postgres')) return false
  const which = replicaPorts.indexOf(lame)
  const database = world.databaseProxies[which]
  timeline.note(`gives ${agent.name} the replica on ${lame}, and the others the other one`)
  world.lame.add(lame)
  for (const one of world.agents) {
    tell({ type: 'agent.blind', agent: one.name })
    await one.proxy.aim(one.targets.filter((_, index) => (index === which) === (one === agent)))
    await one.proxy.break('cut')
  }
  await until('the agent has the replica', async () => (await agent.proxy.links()) > 0).catch(() => undefined)
  await wait(500)
  timeline.note(`the replica on ${lame} loses the database`)
  await database?.aim(['nowhere'])
  await database?.break('dead')
  tell({ type: 'agent.silenced', agent: agent.name })
  const over = wait(silenceMs)
  later(`replica ${lame}`, () => over)
  later(agent.name, async () => {
    await over
    for (const one of world.agents) await one.proxy.aim(one.targets)
    tell({ type: 'agent.blind', agent: agent.name })
    await agent.proxy.break('cut')
    await database?.aim(world.databaseTargets)
    await database?.break('bury')
    tell({ type: 'agent.heard', agent: agent.name })
    world.lame.delete(lame)
    timeline.note(`the replica on ${lame} has the database again`)
  })
  return true
}

async function withRedis(
  arena: Arena,
  act: (arena: Arena, redis: NonNullable<World['redis']>) => Promise<void>,
): Promise<boolean> {
  const { redis } = arena.world
  if (redis === undefined || arena.isBusy('redis')) return false
  await act(arena, redis)
  return true
}

async function restartRedis(
  { timeline, random, later }: Arena,
  redis: NonNullable<World['redis']>,
): Promise<void> {
  timeline.note('kills Redis, with all its data')
  await redis.process.kill()
  later('redis', async () => {
    await wait(random.below(2_000))
    await redis.restart()
    timeline.note('Redis runs again')
  })
}

async function flushRedis({ timeline }: Arena, redis: NonNullable<World['redis']>): Promise<void> {
  timeline.note('takes all data from Redis')
  await redis.flush()
}

async function hangRedis({ world, timeline, random, later }: Arena): Promise<void> {
  timeline.note('Redis hangs')
  await world.redisProxy?.aim(['nowhere'])
  await world.redisProxy?.break('dead')
  later('redis', async () => {
    await wait(500 + random.below(4_000))
    await world.redisProxy?.aim(world.redisTargets)
    await world.redisProxy?.break('bury')
    timeline.note('Redis answers again')
  })
}

/** The database is away for a while: one thing at a time is done to it. */
function whileAway(
  { world, timeline, tell, later, isBusy }: Arena,
  what: string,
  act: () => Promise<void>,
): boolean {
  if (isBusy('postgres')) return false
  timeline.note(what)
  tell({ type: 'truth.away' })
  later('postgres', async () => {
    await act()
    await world.untilWritable()
    tell({ type: 'truth.back' })
    timeline.note('PostgreSQL is back')
  })
  return true
}

async function killPostgres(arena: Arena): Promise<boolean> {
  return whileAway(arena, 'kills PostgreSQL', async () => {
    await arena.world.killPostgres()
    await wait(100)
  })
}

async function makeReadOnly(arena: Arena): Promise<boolean> {
  return whileAway(arena, 'makes PostgreSQL read-only', async () => {
    const { world, random } = arena
    await world.asSuperuser('alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
    await wait(500 + random.below(3_000))
    await world.asSuperuser(
      'set default_transaction_read_only = off',
      'alter system reset default_transaction_read_only',
      'select pg_reload_conf()',
    )
    await wait(100)
  })
}

async function cutDatabase(arena: Arena): Promise<boolean> {
  return whileAway(arena, 'cuts the connections to PostgreSQL', async () => {
    for (const proxy of arena.world.databaseProxies) await proxy.break('cut')
  })
}

async function hangDatabase(arena: Arena): Promise<boolean> {
  return whileAway(arena, 'PostgreSQL hangs', async () => {
    const { world, random } = arena
    for (const proxy of world.databaseProxies) {
      await proxy.aim(['nowhere'])
      await proxy.break('dead')
    }
    await wait(500 + random.below(3_000))
    for (const [index, proxy] of world.databaseProxies.entries()) {
      // What was lost before this stays lost.
      if (!world.lame.has(replicaPorts[index] ?? 0)) await proxy.aim(world.databaseTargets)
      await proxy.break('bury')
    }
  })
}
