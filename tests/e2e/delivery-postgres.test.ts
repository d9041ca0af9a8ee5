import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type Database } from '#server/platform/database.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { redisPort, startRedis } from '#tests/support/redis-on-host.ts'
import { restartablePostgres } from '#tests/support/restartable-postgres.ts'
import { toDatabaseUrl } from '#tests/support/running-server.ts'
import { aSite, type Person, type Site, urlOf } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

const set4 = 'jit4'
/** An agent looks for its server again within this time at most, at a random moment of it (decision 29). */
const relinkedMs = 20_000

describe.skipIf(!hasKernel())('a PostgreSQL that is', { timeout: 120_000 }, () => {
  let host: TestHost
  let postgres: Awaited<ReturnType<typeof restartablePostgres>>
  beforeAll(async () => {
    host = await aHost()
    await host.makeSet(set4, 4)
    postgres = await restartablePostgres()
  }, 120_000)
  afterAll(async () => {
    await postgres.remove()
    await host.close()
  })

  describe.each(['PostgreSQL', 'Redis'] as const)('(with the queue on %s)', (queue) => {
    if (queue === 'Redis' && !requireProgram('redis-server')) return
    let redis: TestProcess | undefined
    let database: Database
    let site: Site
    let people: Person[]
    let aclId: string

    beforeAll(async () => {
      await host.exec('ipset', 'flush', set4)
      const connection = await postgres.makeDatabase(`with_${queue.toLowerCase()}`)
      database = createDatabase(connection, { max: 3, applicationName: 'test' })
      if (queue === 'Redis') redis = await startRedis(host)
      const env = redis === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redisPort}` }
      site = await aSite(host, { everywhere: true, env: { DATABASE_URL: toDatabaseUrl(connection), ...env } })
      const agent = await site.aLinkedAgent(`edge-${queue}`, { quick: true })
      people = await Promise.all(
        [1, 2, 3].map((index) => site.aPerson(`p${index}`, { at: `10.9.5.${index}` })),
      )
      aclId = (await site.aKnoc(agent.id, { name: 'SSH', set4, people })).ID
    }, 120_000)
    afterAll(async () => {
      await site.close()
      await database.close()
      await redis?.kill()
    })

    const standing = async () => [...(await host.entries(set4)).keys()].toSorted()
    const desired = async () => {
      const { rows } = await sql<{ address: string }>`
        select host(address) as address from entries where desired = 'open'`.execute(database.db)
      return rows.map(({ address }) => address).toSorted()
    }
    const agree = async () => {
      const [kernel, wanted] = [await standing(), await desired()]
      return kernel.join() === wanted.join()
    }
    const first = () => people[0] as Person
    const isOpen = async () => (await standing()).includes(first().at)

    it('restarted in the middle of clicks loses none of those it answered, and opens nothing else', async () => {
      /** Whether each was last told that he has a grant; undefined after a click without an answer, which may be either. */
      const told = new Map<Person, boolean | undefined>()
      let isOver = false
      const clicking = people.map(async (person) => {
        for (let click = 0; !isOver; click += 1) {
          told.set(person, undefined)
          await (click % 2 === 0 ? person.grant(aclId) : person.revoke(aclId)).then(
            // A grant is not taken while a close is on its way; its answer has no end then.
            ({ ExpiredAfter }) => told.set(person, ExpiredAfter !== null),
            () => undefined,
          )
          await wait(40)
        }
      })
      for (const awayMs of [0, 1_200]) {
        await wait(600)
        await postgres.restart(awayMs)
      }
      await wait(600)
      isOver = true
      await Promise.all(clicking)
      await until('desired and kernel agree', () => agree().catch(() => false), { withinMs: relinkedMs })
      const wanted = await desired()
      for (const [{ userName, at }, isGranted] of told)
        if (isGranted !== undefined) expect([userName, wanted.includes(at)]).toEqual([userName, isGranted])
      await until('the server is ready', isReady)
      for (const person of people) await person.revoke(aclId)
      await until('all are shut', async () => (await standing()).length === 0, { withinMs: relinkedMs })
      expect(site.crashes()).toEqual([])
    })

    it('read-only is answered as away: nothing is claimed, nothing opens, and it comes back by itself', async () => {
      await site.untilStatus(first(), aclId, [9])
      await postgres.setReadOnly(true)
      await until('it is not ready', async () => !(await isReady()))
      const refusal = await first()
        .grant(aclId)
        .catch((error: unknown) => error)
      expect(refusal).toMatchObject({ status: 503 })
      expect(await isOpen()).toBe(false)
      await postgres.setReadOnly(false)
      await until('it is ready', isReady)
      await first().grant(aclId)
      await until('open', isOpen, { withinMs: relinkedMs })
      await first().revoke(aclId)
      await until('shut', async () => !(await isOpen()))
    })

    const isReady = () =>
      host.client.fetch(`${urlOf()}/ready`, {}).then(
        ({ ok }) => ok,
        () => false,
      )
  })
})
