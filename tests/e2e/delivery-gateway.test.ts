import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OrderResult, ServerFrame } from '#machines/protocol.ts'
import { settleEntries } from '#server/entries/settle-entries.ts'
import { sweepOnce } from '#server/entries/sweep.ts'
import { finishDrained } from '#server/gateway/report.store.ts'
import { createDatabase, type Database, inTransaction } from '#server/platform/database.ts'
import type { DB } from '#server/platform/database.types.ts'
import { aKnoc, aLicence, anAgent, aSession, aUser, entitle } from '#tests/support/builders.ts'
import { asSuperuser, type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { aHello, aQuietGateway } from '#tests/support/quiet-gateway.ts'

/** Gateways on a real database, and agents that say just what a test makes them say. */

const nowhere = { publish: () => undefined }
const superseded = 4410

let database: TestDatabase
let db: TestDatabase['db']
let agentId: string
let opened = 0

beforeAll(async () => {
  database = await testDatabase()
  db = database.db
  await aLicence(db)
})
beforeEach(async () => {
  agentId = await anAgent(db)
})
afterAll(() => database.drop())

const aGateway = (replica: string, over: { db?: Kysely<DB>; onConflict?: () => void } = {}) => {
  const gateway = aQuietGateway(over.db ?? db, {
    replica,
    onConflict: async () => over.onConflict?.(),
  })
  const run = (name: 'table' | 'heartbeat') => gateway.duties.find((duty) => duty.name === name)?.run()
  return { ...gateway, run }
}

type Frame<Type extends ServerFrame['type']> = Extract<ServerFrame, { type: Type }>

/** An agent's end of a link, which writes down all it hears and answers nothing by itself. */
function aWire(gateway: ReturnType<typeof aGateway>) {
  const frames: ServerFrame[] = []
  const closed: number[] = []
  const take = (frame: ServerFrame) => {
    frames.push(frame)
    if (frame.type === 'orders') setImmediate(() => say({ type: 'journalled', batch: frame.batch }))
  }
  const link = gateway.accept(
    { agentId, externalIp: '192.0.2.1' },
    {
      send: (text) => take(JSON.parse(text) as ServerFrame),
      close: (code) => void closed.push(code),
      terminate: () => undefined,
      bufferedAmount: 0,
    },
  )
  const say = (frame: object) => link.receive(JSON.stringify(frame))
  const ofType = <Type extends ServerFrame['type']>(type: Type) =>
    frames.filter((frame): frame is Frame<Type> => frame.type === type)
  const orders = () => ofType('orders').flatMap((frame) => frame.orders)
  const orderOf = (address: string, desired: 'open' | 'closed') =>
    orders().findLast((order) => order.address === address && order.desired === desired)

  return {
    link,
    frames,
    closed,
    say,
    ofType,
    orders,
    orderOf,
    hello: async (epoch: string | null = null) => {
      say({ ...hello, epoch })
      await expect.poll(() => ofType('welcome').length).toBe(1)
    },
    untilOrdered: async (address: string, desired: 'open' | 'closed') => {
      await expect.poll(() => orderOf(address, desired), { timeout: 3_000 }).toBeDefined()
      return orderOf(address, desired) as NonNullable<ReturnType<typeof orderOf>>
    },
    answer: (
      order: { targetId: string; address: string; generation: number },
      over: Partial<OrderResult> = {},
    ) => {
      const { targetId, address, generation } = order
      const said = { outcome: 'verified', atMs: Date.now(), error: null, ...over }
      say({ type: 'results', results: [{ targetId, address, generation, ...said }] })
    },
  }
}

const hello = aHello()

/** A door that somebody holds open, committed without a word to any gateway. */
async function aDoor() {
  opened += 1
  const address = `10.7.${opened >> 8}.${opened & 255}`
  const { aclId, targetId } = await aKnoc(db, { agentId })
  const userId = await aUser(db)
  await entitle(db, userId, aclId)
  const session = await aSession(db, { userId, address })
  await sql`
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    values (${session.id}, ${userId}, ${aclId}, ${address}::inet, ${address}::inet, 'own', 'click',
      now() + interval '1 hour')`.execute(db)
  const settle = () => inTransaction(db, (tx) => settleEntries(tx, [{ targetId, address }]))
  const orders = await settle()
  const close = async () => {
    await sql`update grants set ended_at = now(), ended_reason = 'revoked' where session_id = ${session.id}`.execute(
      db,
    )
    return settle()
  }
  const row = async () => {
    const { rows } = await sql<{
      desired: string
      generation: number
      appliedGeneration: number
      outcome: string | null
      attempts: number
    }>`
      select desired, generation, applied_generation, outcome, attempts from entries
      where target_id = ${targetId} and address = ${address}::inet`.execute(db)
    return rows[0]
  }
  return { address, targetId, orders, settle, close, row }
}

describe('an order', () => {
  it('is found in the table though no nudge brought it', async () => {
    const gateway = aGateway('one')
    const wire = aWire(gateway)
    await wire.hello()
    const door = await aDoor()
    await wait(100)
    expect(wire.orders()).toEqual([])
    await gateway.run('table')
    wire.answer(await wire.untilOrdered(door.address, 'open'))
    await expect.poll(async () => (await door.row())?.outcome).toBe('verified')
    await door.close()
    await gateway.run('table')
    await wire.untilOrdered(door.address, 'closed')
  })

  it('to close that fails is given again, for ever, each time with a younger generation', async () => {
    const gateway = aGateway('one')
    const wire = aWire(gateway)
    await wire.hello()
    const door = await aDoor()
    gateway.nudge(door.orders)
    wire.answer(await wire.untilOrdered(door.address, 'open'))
    gateway.nudge(await door.close())
    const generations = new Set<number>()
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      const order = await wire.untilOrdered(door.address, 'closed')
      generations.add(order.generation)
      wire.answer(order, { outcome: 'failed', error: { code: 'timeout', text: 'the device hangs' } })
      await expect.poll(async () => (await door.row())?.attempts).toBe(attempt)
      expect(await door.row()).toMatchObject({ desired: 'closed', outcome: 'failed' })
      // Not waited for: it doubles up to a minute.
      await sql`update entries set retry_at = now() where target_id = ${door.targetId}`.execute(db)
      await sweepOnce({ db, gateway, events: nowhere })
      await expect.poll(() => wire.orders().at(-1)?.generation).toBeGreaterThan(order.generation)
    }
    expect(generations.size).toBe(12)
    wire.answer(await wire.untilOrdered(door.address, 'closed'))
    await expect.poll(async () => (await door.row())?.outcome).toBe('verified')
  })

  it('that gives more time and was put off is sent when its moment has come', async () => {
    const gateway = aGateway('one')
    const wire = aWire(gateway)
    await wire.hello()
    const door = await aDoor()
    gateway.nudge(door.orders)
    const first = await wire.untilOrdered(door.address, 'open')
    wire.answer(first)
    await sql`update grants set ends_at = ends_at + interval '20 minutes' where address = ${door.address}::inet`.execute(
      db,
    )
    expect(await door.settle()).toEqual([])
    await sweepOnce({ db, gateway, events: nowhere })
    await wait(100)
    expect(wire.orders()).toEqual([first])
    // As if thirty seconds had gone by.
    await sql`
      update entries set order_at = now(), ordered_at = now() - interval '1 minute'
      where target_id = ${door.targetId}`.execute(db)
    await sweepOnce({ db, gateway, events: nowhere })
    await expect.poll(() => wire.orders().length).toBe(2)
    expect(wire.orders()[1]?.untilMs).toBe(first.untilMs + 1_200_000)
  })

  it('waits while the state of a resync is read, so that the older list never comes after it', async () => {
    const door = await aDoor()
    const held = holdRead(door.address)
    const gateway = aGateway('one', { db: db.withPlugin(held.plugin) })
    const wire = aWire(gateway)
    await wire.hello(randomUUID())
    await held.reached
    gateway.nudge(await door.close())
    await wait(400)
    expect(wire.orderOf(door.address, 'closed')).toBeUndefined()
    held.release()
    const close = await wire.untilOrdered(door.address, 'closed')
    const at = (what: (frame: ServerFrame) => boolean) => wire.frames.findLastIndex(what)
    const list = at(
      (frame) => frame.type === 'buckets' && frame.entries.some(({ address }) => address === door.address),
    )
    expect(list).toBeGreaterThan(-1)
    expect(at((frame) => frame.type === 'orders' && frame.orders.includes(close))).toBeGreaterThan(list)
  })
})

/** Holds the read of the buckets that names an address as open back, between database and gateway. */
function holdRead(address: string) {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!result.rows.some((row) => row['address'] === address && 'asOf' in row)) return result
      reached.resolve()
      await released.promise
      return result
    },
  }
  return { plugin, reached: reached.promise, release: () => released.resolve() }
}

describe('of two replicas that both think they hold an agent', () => {
  it('the older one’s answers change nothing, and its link is ended', async () => {
    const [here, there] = [aGateway('here'), aGateway('there')]
    const [older, newer] = [aWire(here), aWire(there)]
    await older.hello()
    const door = await aDoor()
    here.nudge(door.orders)
    const order = await older.untilOrdered(door.address, 'open')
    await newer.hello()
    await newer.untilOrdered(door.address, 'open')
    older.answer(order)
    older.say({
      type: 'capabilities',
      capabilities: { ...hello.capabilities, haproxy: { socket_location: '/old' } },
    })
    await wait(300)
    expect(await door.row()).toMatchObject({ appliedGeneration: 0, outcome: null })
    expect(JSON.stringify(await capabilities())).not.toContain('/old')
    await here.run('table')
    await here.run('heartbeat')
    expect(older.closed).toEqual([superseded])
    newer.answer(order)
    await expect.poll(async () => (await door.row())?.outcome).toBe('verified')
  })

  const capabilities = () =>
    db.selectFrom('agents').select('capabilities').where('id', '=', agentId).executeTakeFirst()
})

describe('an agent whose data folder was copied', () => {
  it('is in conflict when two living processes took the link from each other, and the holder keeps it', async () => {
    let alarms = 0
    const gateway = aGateway('one', { onConflict: () => void (alarms += 1) })
    let holder = aWire(gateway)
    await holder.hello()
    for (let round = 0; round < 2; round += 1) {
      const rival = aWire(gateway)
      await rival.hello()
      expect(holder.closed).toEqual([superseded])
      gateway.release(holder.link, superseded)
      expect(alarms).toBe(round)
      holder = rival
    }
    const third = aWire(gateway)
    expect(third.closed).toEqual([4409])
    gateway.release(third.link, 4409)
    expect(holder.closed).toEqual([])
    expect(gateway.linkCount()).toBe(1)
  })

  it.each([
    ['half open', 1006, false],
    ['asked to move', superseded, true],
  ] as const)('is none whose older link was %s, however often', async (_, code, isMoved) => {
    let alarms = 0
    const gateway = aGateway('one', { onConflict: () => void (alarms += 1) })
    let older = aWire(gateway)
    await older.hello()
    for (let round = 0; round < 4; round += 1) {
      if (isMoved) older.link.move(0)
      const next = aWire(gateway)
      await next.hello()
      gateway.release(older.link, code)
      expect(next.closed).toEqual([])
      older = next
    }
    expect(alarms).toBe(0)
  })
})

describe('a database that went back', () => {
  it('is known by a generation that it never handed out; a new epoch begins above all that agents know', async () => {
    const gateway = aGateway('one')
    const epochOf = async () =>
      (await db.selectFrom('installation').select('epoch').executeTakeFirstOrThrow()).epoch
    const before = await epochOf()
    const wire = aWire(gateway)
    wire.say({ ...hello, epoch: before, highestGeneration: 5_000_000 })
    await expect.poll(() => wire.ofType('welcome').length).toBe(1)
    expect(await epochOf()).not.toBe(before)
    expect(wire.ofType('welcome')[0]?.epoch).toBe(await epochOf())
    const door = await aDoor()
    expect(door.orders[0]?.generation).toBeGreaterThan(5_000_000)
  })
})

describe('a database that takes no writes', () => {
  let own: Database
  beforeEach(() => {
    own = createDatabase(database.connection, { max: 4, applicationName: 'read-only test' })
  })
  afterEach(() => own.close())

  const setReadOnly = async (isReadOnly: boolean) => {
    const { database: name } = database.connection
    await asSuperuser(
      `alter database ${name} set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
    )
    await asSuperuser('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  }
  const truth = (wire: ReturnType<typeof aWire>) => wire.ofType('heartbeat').at(-1)?.truthAtMs ?? 0

  it('gives agents no newer truth, so that strict knocs close, until it takes them again', async () => {
    const gateway = aGateway('one', { db: own.db })
    const wire = aWire(gateway)
    await wire.hello()
    await gateway.run('table')
    await gateway.run('heartbeat')
    const before = truth(wire)
    expect(before).toBeGreaterThan(0)
    await setReadOnly(true)
    try {
      for (let look = 0; look < 3; look += 1) {
        await expect(gateway.run('table')).rejects.toThrow()
        await gateway.run('heartbeat')?.catch(() => undefined)
        await wait(50)
      }
      expect(wire.ofType('heartbeat').length).toBeGreaterThan(3)
      expect(truth(wire)).toBe(before)
    } finally {
      await setReadOnly(false)
    }
    await expect
      .poll(() =>
        gateway.run('table')?.then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await gateway.run('heartbeat')
    expect(truth(wire)).toBeGreaterThan(before)
  })
})

describe('an agent that is deleted', () => {
  it('is told so on its link, by the code at which it closes everything', async () => {
    const gateway = aGateway('one')
    const wire = aWire(gateway)
    await wire.hello()
    await gateway.run('table')
    await gateway.run('heartbeat')
    expect(wire.closed).toEqual([])
    await db.updateTable('agents').set({ deletedAt: new Date() }).where('id', '=', agentId).execute()
    await gateway.run('table')
    await gateway.run('heartbeat')
    expect(wire.closed).toEqual([4401])
  })
})

describe('a list that nobody uses any more', () => {
  it('is forgotten only when its last entry was seen closed', async () => {
    const gateway = aGateway('one')
    const wire = aWire(gateway)
    await wire.hello()
    const door = await aDoor()
    gateway.nudge(door.orders)
    wire.answer(await wire.untilOrdered(door.address, 'open'))
    await expect.poll(async () => (await door.row())?.outcome).toBe('verified')
    await db.updateTable('targets').set({ state: 'draining' }).where('id', '=', door.targetId).execute()
    expect(await drained(door.targetId)).toBe(false)
    gateway.nudge(await door.close())
    const close = await wire.untilOrdered(door.address, 'closed')
    expect(await drained(door.targetId)).toBe(false)
    wire.answer(close)
    await expect.poll(async () => (await door.row())?.appliedGeneration).toBe(close.generation)
    expect(await drained(door.targetId)).toBe(true)
  })

  const drained = async (targetId: string) => (await finishDrained(db)).some(({ id }) => id === targetId)
})
