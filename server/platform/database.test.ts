import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { asSuperuser, testDatabase } from '#tests/support/database.ts'
import { createDatabase, createPools, databaseLimits, inTransaction } from './database.ts'
import { migrateDown, migrateToLatest, pendingMigrations } from './migrate.ts'
import { Secret } from './secret.ts'

const database = await testDatabase()
afterAll(() => database.drop())

describe('the database', () => {
  it('limits every wait, on each of the three pools', async () => {
    const pools = createPools(database.connection)
    onTestFinished(() => pools.close())
    for (const { db } of [pools.grants, pools.lists, pools.background]) {
      const { rows } = await sql<Record<string, string>>`
        select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('idle_in_transaction_session_timeout') as idle`.execute(db)
      expect(rows[0]).toEqual({ statement: '5s', lock: '2s', idle: '10s' })
    }
  })

  it('gives numbers, instants and texts, and refuses a number that would be inexact', async () => {
    const { rows } = await sql`select 9007199254740991::bigint as big_one, array[1, null]::bigint[] as many,
      '2026-11-21T00:00:00Z'::timestamptz as at, '::1'::inet as address, '{"KeyName": {"inner_key": 1}}'::jsonb as config`.execute(
      database.db,
    )
    expect(rows[0]).toEqual({
      bigOne: 9007199254740991,
      many: [1, null],
      at: new Date('2026-11-21T00:00:00Z'),
      address: '::1',
      config: { KeyName: { inner_key: 1 } },
    })
    await expect(sql`select 9007199254740993::bigint as big`.execute(database.db)).rejects.toThrow(
      'too large',
    )
  })

  it('gives up on a server that takes the connection and then says nothing', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    const connection = { host: '127.0.0.1', port, user: 'u', password: new Secret('p'), database: 'd' }
    const { pool, close } = createDatabase(connection, { max: 1, applicationName: 'test' })
    const started = performance.now()
    await expect(pool.query('select 1')).rejects.toThrow('timeout')
    expect(performance.now() - started).toBeLessThan(databaseLimits.connect + 1000)
    await close()
  })

  it('outlives a connection that breaks between two statements of a transaction', async () => {
    const { db, close } = createDatabase(database.connection, { max: 1, applicationName: 'test' })
    onTestFinished(close)
    const broken = db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
      await asSuperuser('select pg_terminate_backend($1)', [rows[0]?.pid])
      await wait(200)
      await sql`select 1`.execute(tx)
    })
    await expect(broken).rejects.toThrow()
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db)
    expect(rows).toEqual([{ one: 1 }])
  })

  it('does not use a connection again on which an answer failed to come', async () => {
    const { pool, close } = createDatabase(database.connection, { max: 1, applicationName: 'test' })
    onTestFinished(close)
    const backend = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid
    const before = await backend()
    const late = { text: 'select pg_sleep(2)', query_timeout: 100 }
    await expect(pool.query(late)).rejects.toThrow('Query read timeout')
    const started = performance.now()
    expect(await backend()).not.toBe(before)
    expect(performance.now() - started).toBeLessThan(1000)
  })

  it('survives its connections being cut', async () => {
    await database.pool.query('select 1')
    await asSuperuser('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      database.connection.database,
    ])
    await expect
      .poll(() =>
        database.pool.query('select 1 as one').then(
          ({ rows }) => rows[0].one,
          () => 0,
        ),
      )
      .toBe(1)
  })
})

describe('a transaction', () => {
  it('is READ COMMITTED, and is run again after a deadlock until both of two opponents are through', async () => {
    await database.pool.query('create table purse (id int primary key, coins int)')
    await database.pool.query('insert into purse values (1, 0), (2, 0)')
    let attempts = 0
    const add = (first: number, second: number) =>
      inTransaction(database.db, async (tx) => {
        attempts += 1
        const { rows } = await sql<{
          level: string
        }>`select current_setting('transaction_isolation') as level`.execute(tx)
        await sql`update purse set coins = coins + 1 where id = ${first}`.execute(tx)
        await sql`select pg_sleep(0.1)`.execute(tx)
        await sql`update purse set coins = coins + 1 where id = ${second}`.execute(tx)
        return rows[0]?.level
      })
    expect(await Promise.all([add(1, 2), add(2, 1)])).toEqual(['read committed', 'read committed'])
    const { rows } = await database.pool.query('select coins from purse')
    expect(rows).toEqual([{ coins: 2 }, { coins: 2 }])
    expect(attempts).toBeGreaterThan(2)
  })

  it('passes other errors on at once and leaves nothing behind', async () => {
    let attempts = 0
    const failing = inTransaction(database.db, async (tx) => {
      attempts += 1
      await sql`create table half (id int)`.execute(tx)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(attempts).toBe(1)
    const { rows } = await database.pool.query("select to_regclass('half') as half")
    expect(rows[0].half).toBeNull()
  })
})

describe('migrations', () => {
  it('go up, down and up again, and leave nothing behind when they are down', async () => {
    const empty = await testDatabase({ empty: true })
    onTestFinished(() => empty.drop())
    const tables = async () => {
      const { rows } = await empty.pool.query(
        "select count(*) from pg_class where relnamespace = 'public'::regnamespace and relname !~ '^kysely_'",
      )
      return rows[0].count
    }
    const all = await pendingMigrations(empty.connection)
    expect(all.length).toBeGreaterThan(0)
    expect(await migrateToLatest(empty.connection)).toEqual(all)
    expect(await pendingMigrations(empty.connection)).toEqual([])
    const standing = await tables()
    expect(await migrateDown(empty.connection, all.length)).toEqual([...all].reverse())
    expect(await tables()).toBe(0)
    await migrateToLatest(empty.connection)
    expect(await tables()).toBe(standing)
  })

  it('run once when several replicas start together', async () => {
    const empty = await testDatabase({ empty: true })
    onTestFinished(() => empty.drop())
    const ran = await Promise.all([1, 2, 3].map(() => migrateToLatest(empty.connection)))
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1)
  })
})
