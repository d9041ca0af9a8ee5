import { createPrivateKey, sign } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { linkHeaders, linkSignatureText } from '#machines/protocol.ts'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import { settleEntries } from '#server/entries/settle-entries.ts'
import { toJobId } from '#server/gateway/gateway.jobs.ts'
import { inTransaction } from '#server/platform/database.ts'
import { createPostgresQueues } from '#server/platform/queue-postgres.ts'
import { asSuperuser } from '#tests/support/database.ts'
import { requireProgram } from '#tests/support/debian.ts'
import type { CuttableProxy } from '#tests/support/hands.ts'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { startProgram, type TestProcess } from '#tests/support/process.ts'
import { aSite, type Person, type Site, serverPort, urlOf } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'

const set4 = 'jit4'
const otherPort = 8081

let host: TestHost
let nextProxyPort = 9_000

describe.skipIf(!hasKernel())('delivery', { timeout: 90_000 }, () => {
  beforeAll(async () => {
    host = await aHost()
    await host.makeSet(set4, 4)
  })
  afterAll(() => host.close())

  const stands = async (address: string) => (await host.entries(set4)).has(address)
  const untilOpen = (address: string) => until(`${address} is in the set`, () => stands(address))
  const untilShut = (address: string, withinMs = 10_000) =>
    until(`${address} is gone`, async () => !(await stands(address)), { withinMs })

  /** A site whose one agent is linked through a proxy, and a person with a knoc. */
  async function aLinkedSite(name: string, env: Record<string, string> = {}) {
    await host.exec('ipset', 'flush', set4)
    const site = await aSite(host, { everywhere: true, env })
    const proxy = await host.hands.proxy((nextProxyPort += 1), [serverPort])
    const agent = await site.aLinkedAgent(name, { port: proxy.port, quick: true })
    const alex = await site.aPerson('alex', { at: '10.9.0.1' })
    const { ID: aclId } = await site.aKnoc(agent.id, { name: 'SSH', set4, people: [alex] })
    return { site, proxy, agent, alex, aclId }
  }

  /** Repairs by the auditor and processes that ended by themselves: faults, whatever the test was about. */
  const faultsOf = (site: Site) => [
    ...site.crashes(),
    ...site.logged().filter((line) => line.includes('had to repair')),
  ]

  describe.each(['PostgreSQL', 'Redis'] as const)('with the queue on %s', (queue) => {
    if (queue === 'Redis' && !requireProgram('redis-server')) return
    let site: Site
    let proxy: CuttableProxy
    let agent: Awaited<ReturnType<Site['aLinkedAgent']>>
    let alex: Person
    let aclId: string
    let redis: TestProcess | undefined

    beforeAll(async () => {
      if (queue === 'Redis') redis = await startRedis()
      const env: Record<string, string> = redis === undefined ? {} : { REDIS_URL: 'redis://127.0.0.1:6379' }
      ;({ site, proxy, agent, alex, aclId } = await aLinkedSite(`edge-${queue}`, env))
    }, 120_000)
    afterAll(async () => {
      await site.close()
      await redis?.kill()
    })
    afterEach(() => expect(faultsOf(site)).toEqual([]))

    it('closes within five seconds when the replica dies that had the close in hand', async () => {
      await site.startServer(otherPort)
      await proxy.aim([serverPort, otherPort])
      await alex.grant(aclId)
      await untilOpen(alex.at)
      await proxy.break('mute')
      await alex.revoke(aclId)
      await wait(300)
      expect(await stands(alex.at)).toBe(true)
      const killedAt = performance.now()
      await site.server.kill()
      await untilShut(alex.at)
      expect(performance.now() - killedAt).toBeLessThan(5_000)
      const elsewhere = await site.openConsole(otherPort)
      expect((await elsewhere.request<AgentRow>('GET', `/admin/agents/${agent.id}`)).Online).toBe(true)
    })

    it('delivers through the other replica what was clicked at this one', async () => {
      await site.startServer()
      const elsewhere = await site.signIn('alex', urlOf(serverPort), alex.at)
      await elsewhere.grant(aclId)
      await untilOpen(alex.at)
      await elsewhere.revoke(aclId)
      await untilShut(alex.at, 2_500)
    })

    it('moves its agents to another replica and ends well when it is told to stop', async () => {
      expect(await holderOf(site, agent.id)).toBe(`r${otherPort}`)
      await site.untilStatus(alex, aclId, [9])
      await alex.grant(aclId)
      await untilOpen(alex.at)
      await proxy.aim([serverPort])
      const stopping = site.servers.at(-2)
      await stopping?.stop()
      expect(await stopping?.ended).toBe(0)
      expect(await holderOf(site, agent.id)).toBe(`r${serverPort}`)
      expect(await stands(alex.at)).toBe(true)
      await alex.revoke(aclId)
      await untilShut(alex.at)
    })
  })

  describe('on one replica and another', () => {
    let site: Site
    let proxy: CuttableProxy
    let agent: Awaited<ReturnType<Site['aLinkedAgent']>>
    let alex: Person
    let aclId: string

    beforeAll(async () => {
      ;({ site, proxy, agent, alex, aclId } = await aLinkedSite('edge'))
    }, 120_000)
    afterAll(() => site.close())
    afterEach(() => expect(faultsOf(site)).toEqual([]))

    it('closes though jobs with the same ids were left behind, completed and failed', async () => {
      const left = await leaveJobsBehind(site, agent.id, `gateway-r${otherPort}`)
      await site.startServer(otherPort)
      await proxy.aim([otherPort])
      await proxy.break('cut')
      await until(
        'the agent is linked to the other replica',
        async () => (await holderOf(site, agent.id)) === `r${otherPort}`,
      )
      const seen = new Set<string>()
      for (let round = 0; round < 6; round += 1) {
        await alex.grant(aclId)
        await untilOpen(alex.at)
        await alex.revoke(aclId)
        const { generation } = await entryOf(site, alex.at)
        await untilShut(alex.at, 2_500)
        await site.untilStatus(alex, aclId, [9])
        seen.add(await left.stateOf(generation))
        // The next close gets a generation of the other parity, whose job ended otherwise.
        if (round % 2 === 0) await sql`select nextval('generations')`.execute(site.db)
      }
      expect([...seen].toSorted()).toEqual(['completed', 'failed'])
      await left.close()
      await proxy.aim([serverPort])
      await proxy.break('cut')
      await until(
        'the agent is linked again',
        async () => (await holderOf(site, agent.id)) === `r${serverPort}`,
      )
    })

    it('mixes nothing up while resyncs run in the middle of opens and closes', async () => {
      const people = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          site.aPerson(`toggler-${index}`, { at: `10.9.1.${index + 1}` }),
        ),
      )
      const { ID: toggled } = await site.aKnoc(agent.id, { name: 'Toggled', set4, people })
      const standing = await standMany(site, { aclId, userId: alex.userId, many: 2_000 })
      await until('all stand', async () => (await host.entries(set4)).size >= standing.length, {
        withinMs: 30_000,
      })
      const closed = standing.splice(0, 100)
      await endMany(site, closed)
      await until('the hundred are closed', async () => {
        const entries = await host.entries(set4)
        return closed.every((address) => !entries.has(address))
      })

      const wrong: string[] = []
      let isOver = false
      const toggling = people.map(async (person) => {
        while (!isOver) {
          await person.grant(toggled)
          await wait(Math.random() * 60)
          await person.revoke(toggled)
          await wait(Math.random() * 60)
        }
        if (Math.random() < 0.5) await person.grant(toggled)
      })
      const watching = (async () => {
        while (!isOver) {
          const entries = await host.entries(set4)
          wrong.push(
            ...closed.filter((address) => entries.has(address)).map((address) => `${address} came back`),
          )
          wrong.push(
            ...standing.filter((address) => !entries.has(address)).map((address) => `${address} went`),
          )
          await wait(50)
        }
      })()
      for (let round = 0; round < 16; round += 1) {
        await wait(300)
        await proxy.break('cut')
        await until('the agent is linked', async () => (await proxy.links()) > 0)
        if (round % 8 !== 3) continue
        // Without its journal it takes the whole truth of everything.
        await agent.process.kill()
        rmJournal(agent.data)
        agent = { ...agent, process: site.startAgent(agent, { port: proxy.port, quick: true }) }
        await agent.process.said(/"state":"linked"/)
      }
      isOver = true
      await Promise.all([...toggling, watching])
      expect(wrong.slice(0, 5)).toEqual([])
      await until('desired and kernel agree', async () =>
        isSame(await host.entries(set4), await desired(site)),
      )
      await endMany(site, standing)
      for (const person of people) await person.revoke(toggled)
      await until('all are closed', async () => (await host.entries(set4)).size === 0)
    })

    it('shuts what was revoked while an agent was away that then came back without its journal', async () => {
      await alex.grant(aclId)
      await untilOpen(alex.at)
      await agent.process.kill()
      rmJournal(agent.data)
      await alex.revoke(aclId)
      agent = { ...agent, process: site.startAgent(agent, { port: proxy.port, quick: true }) }
      await untilShut(alex.at)
    })

    it('takes the new epoch after a restore and closes what the older database does not know', async () => {
      const [kept, later, brief] = [
        await site.aPerson('kept', { at: '10.9.2.1' }),
        await site.aPerson('later', { at: '10.9.2.2' }),
        await site.aPerson('brief', { at: '10.9.2.3' }),
      ]
      const { ID } = await site.aKnoc(agent.id, { name: 'Restored', set4, people: [kept, later, brief] })
      for (const person of [kept, brief]) {
        await person.grant(ID)
        await untilOpen(person.at)
      }
      // In the backup this one is open; when it is put back its end has come.
      await sql`
        update grants set ends_at = now() + interval '4 seconds'
        where ended_at is null and address = ${brief.at}::inet`.execute(site.db)
      await settle(site, [brief.at])
      const epoch = await epochOf(site)
      await Promise.all(site.servers.map((server) => server.kill()))
      const backup = await copyDatabase(site)
      await site.startServer()
      // An agent comes back within 15 s, at a random moment of them (decision 29).
      await until('the agent is back', async () => (await proxy.links()) > 0, { withinMs: 20_000 })
      await later.grant(ID)
      await untilOpen(later.at)
      await kept.revoke(ID)
      await untilShut(kept.at)
      await untilShut(brief.at)
      const { generation: highest } = await entryOf(site, kept.at)
      await Promise.all(site.servers.map((server) => server.kill()))
      await restoreDatabase(site, backup)
      await site.startServer()
      await until('the agent is back', async () => (await proxy.links()) > 0, { withinMs: 20_000 })
      await untilShut(later.at)
      await untilOpen(kept.at)
      expect(await epochOf(site)).not.toBe(epoch)
      const again = await site.signIn('later', urlOf(), later.at)
      await again.grant(ID)
      await untilOpen(later.at)
      expect((await entryOf(site, later.at)).generation).toBeGreaterThan(highest)
      expect(await stands(brief.at)).toBe(false)
      expect(await desired(site)).not.toContain(brief.at)
      await again.revoke(ID)
      await untilShut(later.at)
      await kept.revoke(ID)
      await untilShut(kept.at)
    })

    it('refuses a wrong token, and a known one with other keys', async () => {
      const wrong = startStranger('wrong-token', 'a-token-that-nobody-ever-made-000000000')
      await wrong.said(/does not take this token/)
      const thief = startStranger('other-keys', agent.token)
      await thief.said(/does not take this token/)
      const refused = await site.db
        .selectFrom('auditEvents')
        .select('fields')
        .where('kind', '=', 'AgentRefused')
        .execute()
      expect(refused.map((row) => (row.fields as { ErrorMessage: string }).ErrorMessage)).toContain(
        'err.agentKeyMismatch',
      )
      await Promise.all([wrong.kill(), thief.kill()])
      expect((await site.console.request<AgentRow>('GET', `/admin/agents/${agent.id}`)).Online).toBe(true)
    })

    const startStranger = (name: string, token: string): TestProcess => {
      const data = join(host.folder, name)
      mkdirSync(data, { mode: 0o700 })
      return site.startAgent({ token, data }, { quick: true })
    }

    it('refuses a copy of an agent on another machine, and the agent keeps its link', async () => {
      const data = join(host.folder, 'clone')
      cpSync(agent.data, data, { recursive: true })
      const machineIdFile = join(host.folder, 'other-machine-id')
      writeFileSync(machineIdFile, 'another machine\n')
      const before = await linkEpochOf(site, agent.id)
      const clone = site.startAgent(
        { token: '', data },
        { port: proxy.port, quick: true, env: { KNOC_AGENT_MACHINE_ID_FILE: machineIdFile } },
      )
      await clone.said(/err\.agentConflict/)
      const row = await site.console.request<AgentRow>('GET', `/admin/agents/${agent.id}`)
      expect(row).toMatchObject({ Online: true, Conflict: true })
      expect(await linkEpochOf(site, agent.id)).toBe(before)
      await alex.grant(aclId)
      await untilOpen(alex.at)
      await alex.revoke(aclId)
      await untilShut(alex.at)
      await clone.kill()
    })

    it('raises the alarm when a copy runs on the same machine, and one of the two keeps the link', async () => {
      await sql`update agents set conflict_at = null`.execute(site.db)
      const data = join(host.folder, 'copy')
      cpSync(agent.data, data, { recursive: true })
      const copy = site.startAgent({ token: '', data }, { port: proxy.port, quick: true })
      const row = () => site.console.request<AgentRow>('GET', `/admin/agents/${agent.id}`)
      // Whoever lost the link tries again within fifteen seconds.
      await until('the alarm is raised', async () => (await row()).Conflict, { withinMs: 40_000 })
      expect((await row()).Online).toBe(true)
      await alex.grant(aclId)
      await untilOpen(alex.at)
      await copy.kill()
      // It may have been the copy that held the link; then the agent waits for long, or is started anew.
      await agent.process.kill()
      agent = { ...agent, process: site.startAgent(agent, { port: proxy.port, quick: true }) }
      await agent.process.said(/"state":"linked"/)
      await alex.revoke(aclId)
      await untilShut(alex.at)
    })

    it('refuses a protocol version that nobody speaks, an unknown agent, and an upgrade elsewhere', async () => {
      const { agentId } = JSON.parse(readFileSync(join(agent.data, 'identity.json'), 'utf8')) as {
        agentId: string
      }
      const key = createPrivateKey(readFileSync(join(agent.data, 'agent-key.pem')))
      const unknownId = '00000000-0000-4000-8000-000000000000'

      async function upgrade(id: string, protocol: string, path = '/api/agent/link'): Promise<string> {
        const { Nonce: nonce, Server: server } = await site.console.request<{
          Nonce: string
          Server: string
        }>('POST', '/agent/challenge', { AgentID: id })
        const text = linkSignatureText({ server, nonce, agentId: id, machineId: 'machine', protocol })
        const signature = sign(null, Buffer.from(text), key).toString('base64')
        const values = { agent: id, nonce, protocol, machine: 'machine', signature }
        const headers = Object.entries(values).map(
          ([name, value]) => `${linkHeaders[name as 'agent']}: ${value}`,
        )
        return host.client.say(
          addresses.host4,
          serverPort,
          [
            `GET ${path} HTTP/1.1`,
            `Host: ${addresses.host4}:${serverPort}`,
            'Connection: Upgrade',
            'Upgrade: websocket',
            'Sec-WebSocket-Version: 13',
            'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
            ...headers,
            '',
            '',
          ].join('\r\n'),
        )
      }

      expect(await upgrade(agentId, '9-9')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"err\.unsupportedProtocol"/)
      expect(await upgrade(unknownId, '1-1')).toMatch(/^HTTP\/1\.1 401 [\s\S]*"err\.agentUnknown"/)
      expect(await upgrade(agentId, '1-1', '/api/agent/links')).toMatch(
        /^HTTP\/1\.1 404 [\s\S]*"err\.notFound"/,
      )
    })
  })

  describe('on the embedded database', () => {
    it('is there again in seconds after a SIGKILL, with everything in it', { timeout: 120_000 }, async () => {
      const { site, alex, aclId, agent } = await aLinkedSite('edge-embedded', {
        DATABASE_URL: '',
      })
      try {
        await alex.grant(aclId)
        await untilOpen(alex.at)
        await site.server.kill()
        const { readyMs } = await site.startServer()
        expect(readyMs).toBeLessThan(10_000)
        await waitForAgent(site.console, agent.id)
        await alex.revoke(aclId)
        await untilShut(alex.at)
        expect(faultsOf(site)).toEqual([])
      } finally {
        await site.close()
      }
    })
  })
})

async function startRedis(): Promise<TestProcess> {
  const redis = startProgram(
    host.place(['redis-server', '--port', '6379', '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']),
    {},
  )
  await redis.said(/Ready to accept connections/)
  return redis
}

const rmJournal = (data: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(data, `journal.db${suffix}`), { force: true })
}

/** Addresses that are ordered open. */
async function desired(site: Site): Promise<Set<string>> {
  const { rows } = await sql<{ address: string }>`
    select host(address) as address from entries where desired = 'open'`.execute(site.db)
  return new Set(rows.map((row) => row.address))
}

const isSame = (entries: ReadonlyMap<string, number>, wanted: ReadonlySet<string>): boolean =>
  entries.size === wanted.size && [...wanted].every((address) => entries.has(address))

async function entryOf(site: Site, address: string): Promise<{ generation: number }> {
  const { rows } = await sql<{ generation: number }>`
    select generation from entries where address = ${address}::inet order by generation desc limit 1`.execute(
    site.db,
  )
  return rows[0] ?? { generation: 0 }
}

const epochOf = async (site: Site): Promise<string> =>
  (await site.db.selectFrom('installation').select('epoch').executeTakeFirstOrThrow()).epoch

const agentRow = (site: Site, id: string) =>
  site.db
    .selectFrom('agents')
    .select(['linkReplica', 'linkEpoch'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const holderOf = async (site: Site, id: string) => (await agentRow(site, id)).linkReplica
const linkEpochOf = async (site: Site, id: string) => (await agentRow(site, id)).linkEpoch

/**
 * Ended jobs under the ids that the next orders' jobs will have: completed ones for even generations, failed ones
 * for odd. BullMQ takes no second job under such an id, and says nothing (decision 2).
 */
async function leaveJobsBehind(site: Site, agentId: string, name: string) {
  const backend = createPostgresQueues(site.database.connection)
  const queue = backend.openQueue(name) as unknown as Queue
  const { rows } = await sql<{ last: number }>`select last_value as last from generations`.execute(site.db)
  const last = rows[0]?.last ?? 0
  const { worker } = backend.openWorker(name, async (_name, data) => {
    if ((data as { generation: number }).generation % 2 === 1) throw new Error('failed on purpose')
  })
  const idOf = (generation: number, kind: 'grant' | 'revoke' = 'revoke') =>
    toJobId({ kind, agentId, entryIds: [], generation })
  const generations = Array.from({ length: 60 }, (_, index) => last + 1 + index)
  for (const generation of generations)
    for (const kind of ['grant', 'revoke'] as const)
      await queue.add(kind, { kind, agentId, entryIds: [], generation }, { jobId: idOf(generation, kind) })
  const stateOf = (generation: number) => queue.getJobState(idOf(generation))
  await until(
    'all those jobs have ended',
    async () => (await queue.getJobCountByTypes('completed', 'failed')) === generations.length * 2,
  )
  await worker.close()
  return {
    stateOf,
    close: async () => {
      await queue.close()
      await backend.close()
    },
  }
}

/** Many addresses held by one new session of a user; they stand once the agent got to them. */
async function standMany(
  site: Site,
  { aclId, userId, many }: { aclId: string; userId: string; many: number },
) {
  const { rows } = await sql<{ address: string }>`
    with made as (
      insert into sessions (user_id, token_hash, ip_address, ends_at)
      values (${userId}, gen_random_uuid()::text, '10.9.8.8', now() + interval '1 hour') returning id)
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    select made.id, ${userId}, ${aclId}, inet '10.10.0.0' + n, inet '10.10.0.0' + n, 'own', 'click',
      now() + interval '1 hour'
    from made, generate_series(1, ${many}::int) as n
    returning host(address) as address`.execute(site.db)
  const standing = rows.map((row) => row.address)
  await settle(site, standing)
  return standing
}

async function endMany(site: Site, list: readonly string[]): Promise<void> {
  await sql`
    update grants set ended_at = now(), ended_reason = 'revoked'
    where ended_at is null and address = any (${[...list]}::inet[])`.execute(site.db)
  await settle(site, list)
}

async function settle(site: Site, list: readonly string[]): Promise<void> {
  const target = await site.db
    .selectFrom('targets')
    .select('id')
    .where('state', '=', 'active')
    .executeTakeFirstOrThrow()
  for (let from = 0; from < list.length; from += 1_000)
    await inTransaction(site.db, (tx) =>
      settleEntries(
        tx,
        list.slice(from, from + 1_000).map((address) => ({ targetId: target.id, address })),
      ),
    )
}

/** A copy of the site's database as it is; nobody may be connected, so whoever is gets thrown out. */
async function copyDatabase(site: Site): Promise<string> {
  const name = site.database.connection.database
  await throwOut(name)
  await asSuperuser(`create database ${name}_backup template ${name} owner knoc`)
  return `${name}_backup`
}

/** Puts the copy in the database's place. */
async function restoreDatabase(site: Site, backup: string): Promise<void> {
  const name = site.database.connection.database
  await throwOut(name)
  await asSuperuser(`drop database ${name} with (force)`)
  await asSuperuser(`alter database ${backup} rename to ${name}`)
}

const throwOut = (name: string) =>
  asSuperuser('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
