import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { settleEntries } from '#server/entries/settle-entries.ts'
import { sweepOnce } from '#server/entries/sweep.ts'
import { type OrderJob, orderJobSchema } from '#server/gateway/gateway.jobs.ts'
import { readTruth } from '#server/gateway/link.store.ts'
import { inTransaction } from '#server/platform/database.ts'
import {
  agentsWithDueRefreshes,
  dueRefreshesOf,
  listDueRefreshes,
} from '#server/refreshes/due-refresh.query.ts'
import { closeWindows, takeAnswer } from '#server/refreshes/refresh.service.ts'
import { aLicence, anAgent } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { anAgentOn, aReplicaOf, aToldList, replaceTarget } from '#tests/support/told-lists.ts'

/** Gateways on a real database, and agents that answer as a test makes them. */

let database: TestDatabase
let db: TestDatabase['db']
let agentId: string

beforeAll(async () => {
  database = await testDatabase({ max: 20 })
  db = database.db
  await aLicence(db)
})
beforeEach(async () => {
  agentId = await anAgent(db)
})
afterAll(() => database.drop())

const answering = { onRefresh: (_: unknown, answer: () => void) => setImmediate(answer) }
const untilTold = (agent: Awaited<ReturnType<typeof anAgentOn>>, times: number) =>
  expect.poll(() => agent.refreshes().length, { timeout: 5_000 }).toBe(times)
const someLooks = async (gateway: ReturnType<typeof aReplicaOf>) => {
  for (let look = 0; look < 3; look += 1) {
    await gateway.run('table')
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
}
/** As if so many seconds had gone by since a firewall was told last, or could not be. */
const later = (targetId: string, seconds: number) =>
  sql`update list_refreshes set asked_at = asked_at - make_interval(secs => ${seconds}),
    retry_at = retry_at - make_interval(secs => ${seconds}),
    failing_since = failing_since - make_interval(secs => ${seconds}) where target_id = ${targetId}`.execute(
    db,
  )

/** A list whose firewall has been told of all so far, by an agent that goes on answering. */
async function aToldListAndAgent(how: Parameters<typeof anAgentOn>[2] = answering) {
  const list = await aToldList(db, { agentId })
  const gateway = aReplicaOf(db)
  const first = await anAgentOn(gateway, agentId, answering)
  await expect.poll(async () => (await list.row())?.refreshedAt).not.toBeNull()
  first.drop()
  await later(list.targetId, 5)
  const agent = await anAgentOn(gateway, agentId, how)
  return { list, gateway, agent }
}

describe('a firewall', () => {
  it('is told once when its child is made, though nothing is on the list, and once when another takes its place', async () => {
    const list = await aToldList(db, { agentId })
    const gateway = aReplicaOf(db)
    const agent = await anAgentOn(gateway, agentId, answering)
    await untilTold(agent, 1)
    expect(agent.refreshes()).toEqual([{ type: 'refresh', targetId: list.targetId, generation: 1 }])
    await expect.poll(async () => (await list.row())?.refreshedAt).not.toBeNull()
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(1)
    const next = await replaceTarget(db, list.childId, list.targetId)
    await gateway.run('table')
    await untilTold(agent, 2)
    expect(agent.refreshes()[1]?.targetId).toBe(next)
    // The agent has to know a list before it is told to do anything with it.
    const at = (type: string) => agent.frames.findLastIndex((frame) => frame.type === type)
    expect(at('targets')).toBeLessThan(at('refresh'))
    expect(agent.frames[at('targets')]).toMatchObject({
      targets: expect.arrayContaining([expect.objectContaining({ id: next })]),
    })
    expect(await list.row()).toBeUndefined()
  })

  it('is told of each change at once, under its generation, and of none twice', async () => {
    const { list, gateway, agent } = await aToldListAndAgent()
    const door = await list.opened()
    gateway.nudge(door.orders)
    await untilTold(agent, 1)
    expect(agent.refreshes()[0]).toMatchObject({ targetId: list.targetId, generation: await list.newest() })
    await expect.poll(async () => (await list.row())?.generation).toBe(await list.newest())
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(1)
    await later(list.targetId, 5)
    gateway.nudge(await door.close())
    await untilTold(agent, 2)
    expect(agent.refreshes()[1]?.generation).toBe(await list.newest())
  })

  it('is told by the look at the table where the nudge was lost', async () => {
    const { list, gateway, agent } = await aToldListAndAgent()
    await list.opened()
    expect(agent.refreshes()).toEqual([])
    await gateway.run('table')
    await untilTold(agent, 1)
  })

  it('is told of what changed while its agent was away', async () => {
    const { list, gateway, agent } = await aToldListAndAgent()
    agent.drop()
    gateway.nudge((await list.opened()).orders)
    await gateway.run('table')
    const back = await anAgentOn(gateway, agentId, answering)
    await untilTold(back, 1)
    expect(agent.refreshes()).toEqual([])
  })

  it('is told through the replica that holds its agent: by a job, or without one by the look', async () => {
    const jobs: [string, OrderJob][] = []
    const { list, gateway: there, agent } = await aToldListAndAgent()
    const here = aReplicaOf(db, {
      replica: 'elsewhere',
      addJob: async (replica, job) => jobs.push([replica, orderJobSchema.parse(job)]) > 0,
    })
    here.nudge((await list.opened()).orders)
    await expect.poll(() => jobs.length).toBe(1)
    expect(jobs).toMatchObject([['here', { kind: 'refresh', agentId, generation: await list.newest() }]])
    expect(agent.refreshes()).toEqual([])
    for (const [, job] of jobs) there.takeJob(job)
    await untilTold(agent, 1)
    await expect.poll(async () => (await list.row())?.generation).toBe(await list.newest())
    await later(list.targetId, 5)
    await list.opened()
    await there.run('table')
    await untilTold(agent, 2)
  })

  it('that doesn’t answer is told again after 15 s, and on a new link at once', async () => {
    const { list, gateway, agent } = await aToldListAndAgent({})
    gateway.nudge((await list.opened()).orders)
    await untilTold(agent, 1)
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(1)
    const real = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + 15_000)
    try {
      await gateway.run('table')
      await untilTold(agent, 2)
      agent.drop()
      const again = await anAgentOn(gateway, agentId, answering)
      await untilTold(again, 1)
    } finally {
      clock.mockRestore()
    }
    await expect.poll(async () => (await list.row())?.generation).toBe(await list.newest())
  })

  it('is told of an order that was numbered before the one it knows and committed after it', async () => {
    const { list, gateway, agent } = await aToldListAndAgent()
    const [slow, quick] = [await list.open(), await list.open()]
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
    const { promise: numbered, resolve: isNumbered } = Promise.withResolvers<void>()
    const slowly = inTransaction(db, async (tx) => {
      await settleEntries(tx, [{ targetId: list.listId, address: slow.address }])
      isNumbered()
      await mayCommit
    })
    await numbered
    gateway.nudge(await quick.settle())
    await untilTold(agent, 1)
    await expect.poll(async () => (await list.row())?.generation).toBe(await list.newest())
    await later(list.targetId, 5)
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(1)
    commit()
    await slowly
    await gateway.run('table')
    await untilTold(agent, 2)
    expect(agent.refreshes()[1]?.generation).toBe(agent.refreshes()[0]?.generation)
    await expect.poll(async () => listDueRefreshes(db, agentId)).toEqual([])
    // When nothing can be late any more, nobody looks for it.
    await sql`update list_refreshes set window_sum = window_sum + 1 where target_id = ${list.targetId}`.execute(
      db,
    )
    await later(list.targetId, 120)
    await closeWindows(db)
    const row = await list.row()
    expect([row?.windowStart, row?.windowSum]).toEqual([row?.generation, 0])
    expect(await listDueRefreshes(db, agentId)).toEqual([])
  })

  it('is not told again while its answer is being written down', async () => {
    const { list, gateway, agent } = await aToldListAndAgent({})
    gateway.nudge((await list.opened()).orders)
    await untilTold(agent, 1)
    await inTransaction(db, async (tx) => {
      await sql`select from list_refreshes where target_id = ${list.targetId} for update`.execute(tx)
      agent.answer({ targetId: list.targetId, generation: await list.newest() })
      await someLooks(gateway)
    })
    await expect.poll(async () => (await list.row())?.generation).toBe(await list.newest())
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(1)
  })

  it('is told by its own agent only: what another one answers changes nothing', async () => {
    const { list, gateway, agent } = await aToldListAndAgent({})
    gateway.nudge((await list.opened()).orders)
    await untilTold(agent, 1)
    const before = await list.row()
    const stranger = await anAgentOn(gateway, await anAgent(db))
    const [asked] = await listDueRefreshes(db, agentId)
    if (asked === undefined) throw new Error('nothing is due')
    for (const frame of agent.refreshes()) stranger.answer(frame)
    const answer = { atMs: Date.now(), error: null }
    expect(await takeAnswer(db, { agentId: await anAgent(db), linkEpoch: 1 }, asked, answer)).toEqual([])
    // Nor what its own says over a link that is no longer its link.
    expect(await takeAnswer(db, { agentId, linkEpoch: 1 }, asked, answer)).toEqual([])
    expect(stranger.closed).toEqual([])
    expect(await list.row()).toEqual(before)
    agent.answer({ targetId: list.targetId, generation: asked.generation })
    await expect.poll(async () => (await list.row())?.generation).toBe(asked.generation)
  })

  it('of a storm of 1,000 changes is told once at a time and at most once a second, and of the last one for certain', async () => {
    let unanswered = 0
    let most = 0
    const { list, gateway, agent } = await aToldListAndAgent({
      onRefresh: (_, answer) => {
        unanswered += 1
        most = Math.max(most, unanswered)
        setTimeout(() => {
          unanswered -= 1
          answer()
        }, 30)
      },
    })
    const startedAt = performance.now()
    const comeAndGo = async () => {
      for (let door = 0; door < 25; door += 1) {
        const { orders, close, reopen } = await list.opened()
        gateway.nudge(orders)
        for (let change = 1; change < 10; change += 1)
          gateway.nudge(await (change % 2 === 1 ? close() : reopen()))
      }
    }
    await Promise.all([comeAndGo(), comeAndGo(), comeAndGo(), comeAndGo()])
    await expect
      .poll(async () => (await list.row())?.generation, { timeout: 10_000 })
      .toBe(await list.newest())
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
    expect(most).toBe(1)
    expect(agent.refreshes().length).toBeGreaterThan(0)
    expect(agent.refreshes().length).toBeLessThanOrEqual(1 + seconds)
    expect(agent.refreshes().at(-1)?.generation).toBe(await list.newest())
    await later(list.targetId, 5)
    const told = agent.refreshes().length
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(told)
  })

  it('is told when an entry reaches its end, without anybody’s click', async () => {
    const { list, gateway, agent } = await aToldListAndAgent()
    const door = await list.opened({ seconds: 2 })
    gateway.nudge(door.orders)
    await untilTold(agent, 1)
    expect(await list.read()).toContain(door.address)
    const sweep = () => sweepOnce({ db, gateway, events: { publish: () => undefined } })
    await sweep()
    expect(agent.refreshes()).toHaveLength(1)
    await expect
      .poll(async () => [await sweep(), agent.refreshes().length], { timeout: 10_000, interval: 250 })
      .toEqual([false, 2])
    expect(await list.read()).not.toContain(door.address)
  })
})

describe('a firewall that can’t be told', () => {
  const refused = { code: 'auth', text: 'Invalid Credential' }
  const auditsOf = async (targetId: string) =>
    (
      await sql<{ kind: string; fields: { ErrorMessage?: string } }>`
        select kind, fields from audit_events where detail->>'targetId' = ${targetId} order by id`.execute(db)
    ).rows.map(({ kind, fields }) => [kind, fields.ErrorMessage])

  it('is tried again after 1, 2, 4 … 60 s for ever; its failure and its return are written down once', async () => {
    const { list, gateway, agent } = await aToldListAndAgent({})
    await list.opened()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await gateway.run('table')
      await untilTold(agent, attempt)
      agent.answer({ targetId: list.targetId, generation: await list.newest() }, refused)
      await expect.poll(async () => (await list.row())?.attempts).toBe(attempt)
      const { rows } = await sql<{ wait: number }>`
        select ceil(extract(epoch from retry_at - clock_timestamp()))::int as wait from list_refreshes
        where target_id = ${list.targetId}`.execute(db)
      waits.push(rows[0]?.wait ?? -1)
      // Not waited for.
      await later(list.targetId, 61)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(await list.row()).toMatchObject({
      errorCode: 'auth',
      errorText: 'Invalid Credential',
      generation: 0,
    })
    expect(await auditsOf(list.targetId)).toEqual([['ListRefreshFailed', 'Invalid Credential']])
    await gateway.run('table')
    await untilTold(agent, 9)
    agent.answer({ targetId: list.targetId, generation: await list.newest() })
    await expect.poll(async () => (await list.row())?.errorCode).toBeNull()
    expect(await list.row()).toMatchObject({ attempts: 0, failingSince: null, retryAt: null })
    expect((await auditsOf(list.targetId)).slice(1)).toEqual([['ListRefreshed', undefined]])
  })

  it('is left alone until its next try, whatever changes meanwhile', async () => {
    const { list, gateway, agent } = await aToldListAndAgent({
      onRefresh: (_, answer) => setImmediate(() => answer(refused)),
    })
    await list.opened()
    await gateway.run('table')
    await expect.poll(async () => (await list.row())?.attempts).toBe(1)
    await sql`update list_refreshes set retry_at = now() + interval '1 hour' where target_id = ${list.targetId}`.execute(
      db,
    )
    gateway.nudge((await list.opened()).orders)
    await someLooks(gateway)
    expect(agent.refreshes()).toHaveLength(1)
  })

  it('as its agent is too old says so once, and is told by a younger one at once', async () => {
    const list = await aToldList(db, { agentId })
    const gateway = aReplicaOf(db)
    const old = await anAgentOn(gateway, agentId, { max: 2 })
    await expect.poll(async () => (await list.row())?.errorCode).toBe('agentTooOld')
    for (let change = 0; change < 3; change += 1) {
      gateway.nudge((await list.opened()).orders)
      await someLooks(gateway)
    }
    expect(await list.row()).toMatchObject({
      attempts: 1,
      errorText: expect.stringMatching(/version is too old/),
    })
    const { links } = await readTruth(db, { id: 'here', hostName: 'h', version: '2.0.0' }, [agentId])
    expect(links).toMatchObject([{ hasDueRefresh: false }])
    expect([old.refreshes(), old.closed]).toEqual([[], []])
    expect(await auditsOf(list.targetId)).toHaveLength(1)
    old.drop()
    const young = await anAgentOn(gateway, agentId, answering)
    await untilTold(young, 1)
    await expect.poll(async () => (await list.row())?.errorCode).toBeNull()
  })
})

describe('the look for due refreshes', () => {
  it('goes by the index, however long the list is', async () => {
    const list = await aToldList(db, { agentId })
    for (let from = 0; from < 20_000; from += 5_000)
      await sql`
        insert into entries (target_id, address, desired, until, ordered_until, ordered_at, generation)
        select ${list.listId}, inet '100.64.0.0' + n, 'open', now() + interval '1 hour', now() + interval '1 hour',
          now() - interval '1 hour', n from generate_series(${from}::int + 1, ${from}::int + 5000) n`.execute(
        db,
      )
    await sql`
      update list_refreshes set refreshed_at = now(), asked_at = now() - interval '5 seconds', generation = 20000,
        window_start = 19900, window_sum = (select sum(n) from generate_series(19901, 20000) n)
      where target_id = ${list.targetId}`.execute(db)
    await sql`analyze entries, list_refreshes, targets`.execute(db)
    for (const look of [dueRefreshesOf(agentId), agentsWithDueRefreshes([agentId])]) {
      const { rows } = await sql<{ plan: string }>`explain (analyze, costs off, timing off) ${look}`.execute(
        db,
      )
      const plan = rows.map((row) => Object.values(row).join()).join('\n')
      expect(plan).toContain('entries_generations')
      expect(plan).not.toContain('Seq Scan on entries')
      expect(plan.match(/Rows Removed by .*: \d{3,}/g)).toBeNull()
    }
    expect(await listDueRefreshes(db, agentId)).toEqual([])
  })
})
