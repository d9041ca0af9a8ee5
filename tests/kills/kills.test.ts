import { randomInt } from 'node:crypto'
import { env } from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuditor } from '#server/entries/auditor.ts'
import { createRights } from '#server/entries/create-rights.ts'
import { createLog } from '#server/platform/log.ts'
import type { CuttableProxy } from '#tests/support/hands.ts'
import { aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { aSite, type Person, type Site, serverPort } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'
import { type Clicker, startClicking } from './clicking.ts'
import { createRandom, type Random } from './random.ts'

/** How many kills, and the seed that draws their moments: both are printed, so that a failure can be had again. */
const kills = Number(env['KILLS'] ?? 200)
const seed = Number(env['KILLS_SEED'] ?? randomInt(2 ** 31))

const set4 = 'storm4'
const proxyPort = 9_100
/** A kernel timeout counts whole seconds, and a look takes its time. */
const endSlackMs = 2_500
/** A link on which nothing comes is given up after six seconds, by both ends. */
const noticedMs = 7_000
/** An agent that was refused a few times waits up to fifteen seconds; a kill doesn't. */
const backSoonMs = 500

/** What a kill hits, in the shares in which it is drawn: a new server takes seconds, a new link does not. */
const victims = [
  'server',
  'agent',
  'agent',
  'halfOpen',
  'halfOpen',
  'cut',
  'cut',
  'cut',
  'cut',
  'cut',
] as const

type Victim = (typeof victims)[number]

/** Who shares an address with whom: four people at their own, six at two shared ones. */
const places = [
  '10.9.3.1',
  '10.9.3.2',
  '10.9.3.3',
  '10.9.3.4',
  ...Array.from({ length: 6 }, (_, i) => `10.9.3.${5 + (i % 2)}`),
]

describe.skipIf(!hasKernel())('killed in the middle', { timeout: 120_000 + kills * 3_000 }, () => {
  let host: TestHost
  let site: Site
  let proxy: CuttableProxy
  let agent: Awaited<ReturnType<Site['aLinkedAgent']>>
  let people: Person[]
  let knocs: string[]

  beforeAll(async () => {
    host = await aHost()
    await host.makeSet(set4, 4)
    site = await aSite(host, { everywhere: true })
    proxy = await host.hands.proxy(proxyPort, [serverPort])
    agent = await site.aLinkedAgent('edge', { port: proxyPort, quick: true })
    people = []
    for (const [index, at] of places.entries()) people.push(await site.aPerson(`person-${index}`, { at }))
    const both = [await knoc('One door'), await knoc('The same door')]
    knocs = both.map(({ ID }) => ID)
  }, 120_000)
  afterAll(async () => {
    await site.close()
    await host.close()
  })

  const knoc = (name: string) => site.aKnoc(agent.id, { name, set4, people })

  it(`loses nothing and leaves nothing open over ${kills} kills (seed ${seed})`, async () => {
    const random = createRandom(seed)
    const guests = await inviteGuests()
    const ends = watchEnds(guests)
    const clickers = people.map((person) =>
      startClicking({ person, knocs, random: createRandom(random.next()) }),
    )

    const done = await killAtRandom(random)
    await Promise.all(clickers.map((clicker) => clicker.stop()))
    expect(Object.values(done).reduce((sum, count) => sum + count, 0)).toBe(kills)
    const clicked = clickers.reduce((sum, { taken }) => sum + taken(), 0)
    console.log(JSON.stringify({ seed, ...done, clicksTaken: clicked }))
    expect(clicked).toBeGreaterThan(kills / 4)

    await until('every order is carried out', async () => (await unsettled()) === 0, {
      withinMs: 30_000,
      everyMs: 50,
    })
    await until('desired and kernel agree', async () => same(await host.entries(set4), await desired()), {
      withinMs: 8_000,
      everyMs: 100,
    })
    expect(await lost(clickers)).toEqual([])
    expect(await ends.stop()).toEqual([])
    expect(await tooLong()).toEqual([])
    expect(await repairs()).toBe(0)
    expect(site.logged().filter((line) => line.includes('had to repair'))).toEqual([])
    expect(site.crashes()).toEqual([])
  })

  /** Kills one after the other, at moments drawn at random. */
  async function killAtRandom(random: Random): Promise<Record<Victim, number>> {
    const done = { server: 0, agent: 0, cut: 0, halfOpen: 0 }
    let isHalfOpen = false
    for (let kill = 0; kill < kills; kill += 1) {
      await wait(random.below(120))
      const victim = await findVictim(random.of(victims), isHalfOpen)
      done[victim] += 1
      isHalfOpen = victim === 'halfOpen'
      if (victim === 'cut') await proxy.break('cut')
      else if (victim === 'halfOpen') await loseThePath(random)
      else if (victim === 'agent') await restartAgent(random)
      else await restartServer(random)
    }
    return done
  }

  /** What is half open already can only be cut; where no link comes back soon, the agent that waits is killed. */
  async function findVictim(drawn: Victim, isHalfOpen: boolean): Promise<Victim> {
    if (drawn === 'server' || drawn === 'agent') return drawn
    const hasLink = async () => (await proxy.links()) > 0
    const isLinked = await until('there is a link', hasLink, { withinMs: backSoonMs }).catch(() => null)
    if (isLinked === null) return 'agent'
    return isHalfOpen ? 'cut' : drawn
  }

  /** The path is gone without a word. Now and then both ends notice by themselves; else the next kill ends it. */
  async function loseThePath(random: Random): Promise<void> {
    await proxy.break('dead')
    await wait(random.below(12) === 0 ? noticedMs : random.below(400))
  }

  async function restartAgent(random: Random): Promise<void> {
    await agent.process.kill()
    await wait(random.below(100))
    const process = site.startAgent(agent, { port: proxyPort, quick: true })
    agent = { ...agent, process }
    // Some are awaited until linked; the others may be hit while they come up.
    await process.said(random.below(2) === 0 ? /"state":"linked"/ : /"state":/)
  }

  async function restartServer(random: Random): Promise<void> {
    await site.servers.at(-1)?.kill()
    await wait(random.below(100))
    await site.startServer()
  }

  /** People whose accounts end in the middle of it: their doors have to be shut then, whoever is dead. */
  async function inviteGuests(): Promise<{ at: string; endsAt: number }[]> {
    const guests = []
    for (let index = 0; index < 5; index += 1) {
      const endsAt = Date.now() + 6_000 + index * 9_000
      const guest = await site.aPerson(`guest-${index}`, {
        at: `10.9.4.${index + 1}`,
        ValidUntil: new Date(endsAt).toISOString(),
      })
      await site.console.request('PUT', `/admin/users/${guest.userId}`, {
        ID: guest.userId,
        Name: guest.userName,
        ValidUntil: new Date(endsAt).toISOString(),
        AclIds: knocs,
      })
      await guest.grant(knocs[0] ?? '')
      await until('the guest is in', async () => (await host.entries(set4)).has(guest.at))
      guests.push({ at: guest.at, endsAt })
    }
    return guests
  }

  /** Looks at the kernel the whole time: a guest who is in past his end is written down. */
  function watchEnds(guests: readonly { at: string; endsAt: number }[]) {
    const late: string[] = []
    let isOver = false
    const watching = (async () => {
      while (!isOver || Date.now() < Math.max(...guests.map((guest) => guest.endsAt)) + endSlackMs) {
        const asked = Date.now()
        const entries = await host.entries(set4)
        for (const { at, endsAt } of guests)
          if (entries.has(at) && asked > endsAt + endSlackMs)
            late.push(`${at} ${asked - endsAt} ms after its end`)
        await wait(200)
      }
    })()
    return {
      stop: async () => {
        isOver = true
        await watching
        return late
      },
    }
  }

  async function unsettled(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from entries where applied_generation < generation`.execute(site.db)
    return rows[0]?.count ?? -1
  }

  async function desired(): Promise<Set<string>> {
    const { rows } = await sql<{ address: string }>`
      select host(address) as address from entries where desired = 'open'`.execute(site.db)
    return new Set(rows.map((row) => row.address))
  }

  /** Clicks that were answered with success and are not in the database; a last one without an answer may be either. */
  async function lost(clickers: readonly Clicker[]): Promise<string[]> {
    const { rows } = await sql<{
      userId: string
      aclId: string
    }>`select user_id, acl_id from live_grants`.execute(site.db)
    const live = new Set(rows.map((row) => `${row.userId} ${row.aclId}`))
    return clickers.flatMap(({ person, answered }) =>
      knocs.flatMap((aclId) => {
        const last = answered.get(aclId)
        if (last === undefined || last === 'unknown') return []
        const isLive = live.has(`${person.userId} ${aclId}`)
        return isLive === (last === 'granted')
          ? []
          : [`${person.userName}: ${last}, but ${isLive ? 'live' : 'not live'}`]
      }),
    )
  }

  /** Entries whose time in the kernel is longer than their true end. */
  async function tooLong(): Promise<string[]> {
    const entries = await host.entries(set4)
    const { rows } = await sql<{ address: string; seconds: number }>`
      select host(address) as address, extract(epoch from until - clock_timestamp())::float8 as seconds
      from entries where desired = 'open'`.execute(site.db)
    return rows.flatMap(({ address, seconds }) =>
      (entries.get(address) ?? 0) > seconds + endSlackMs / 1000
        ? [`${address}: ${entries.get(address)} s, not ${seconds}`]
        : [],
    )
  }

  /** What an auditor would have to put right now; 0 or something above let a fault through (decision 3). */
  function repairs(): Promise<number> {
    const deps = {
      db: site.db,
      gateway: { nudge: () => undefined },
      events: { publish: () => undefined },
    }
    const log = createLog({ logLevel: 'silent', replica: 'test' })
    return createAuditor({ ...deps, rights: createRights(deps), reads: site.db, log }).audit()
  }
})

const same = (entries: ReadonlyMap<string, number>, wanted: ReadonlySet<string>): boolean =>
  entries.size === wanted.size && [...wanted].every((address) => entries.has(address))
