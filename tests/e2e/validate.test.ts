import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { validate as command } from '#server/cli/validate.ts'
import { createDatabase, type Database, databaseLimits } from '#server/platform/database.ts'
import type { Difference, DifferenceKind } from '#server/validation/differences.ts'
import { runValidation, validate } from '#server/validation/validate.service.ts'
import { aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { startProgram } from '#tests/support/process.ts'
import { freePort } from '#tests/support/redis.ts'
import { aSite, type Person, type Site } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

const program = fileURLToPath(new URL('../../server/main.ts', import.meta.url))
const knoc = (...args: string[]) => [
  process.execPath,
  'run',
  '--quiet',
  '--no-prompt',
  '--allow-all',
  program,
  ...args,
]

/** Runs `knoc validate` to its end. */
async function run(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; text: string }> {
  const command = startProgram(knoc('validate', ...args), {
    DATABASE_URL: '',
    REDIS_URL: '',
    KNOC_LOG_LEVEL: 'fatal',
    ...env,
  })
  const code = await command.ended
  return { code, text: command.lines.join('\n') }
}

const [set, crowd] = ['jit4', 'crowd4']
const home = '10.9.0.1'

describe.skipIf(!hasKernel())('knoc validate on the real kernel', { timeout: 90_000 }, () => {
  let host: TestHost
  let site: Site
  let agent: Awaited<ReturnType<Site['aLinkedAgent']>>
  let alex: Person
  let aclId: string
  /** With the command's own patience, for a machine that has other things to do. */
  let patient: Database

  beforeAll(async () => {
    host = await aHost()
    await host.makeSet(set, 4)
    await host.makeSet(crowd, 4)
    site = await aSite(host, { everywhere: true })
    const limits = { ...databaseLimits, statement: 60_000, answer: 65_000 }
    patient = createDatabase(site.database.connection, { max: 4, applicationName: 'validate', limits })
    const registered = await site.registerAgent('edge')
    allowScripts(registered.data)
    agent = { ...registered, process: site.startAgent(registered, { quick: true }) }
    await until('the agent is linked', async () => (await linkedAgents()) === 1)
    alex = await site.aPerson('alex', { at: home })
    aclId = (await site.aKnoc(agent.id, { name: 'SSH', set4: set, people: [alex] })).ID
  }, 120_000)
  afterAll(async () => {
    await patient.close()
    await site.close()
    await host.close()
  })

  /** A script that says it did everything. */
  function allowScripts(data: string): void {
    const folder = join(data, 'scripts')
    mkdirSync(folder, { mode: 0o755 })
    writeFileSync(join(folder, 'gate.sh'), '#!/bin/sh\nexit 0\n')
    chmodSync(join(folder, 'gate.sh'), 0o755)
    writeFileSync(join(data, 'agent.json'), JSON.stringify({ scripts: true, scriptFolder: folder }))
  }

  const linkedAgents = async () =>
    (await site.db.selectFrom('agents').select('id').where('linkReplica', 'is not', null).execute()).length
  const ipset = (...args: string[]) => host.exec('ipset', ...args)
  const open = async () => {
    await alex.grant(aclId)
    await site.untilStatus(alex, aclId, [0])
  }
  const close = async () => {
    await alex.revoke(aclId)
    await site.untilStatus(alex, aclId, [9])
  }

  /**
   * Plants a fault and looks at once. The agent repairs what it can within 5 s, so one that was repaired between two
   * looks is planted again.
   */
  async function plant(kind: DifferenceKind, act: () => Promise<unknown>, db = site.db): Promise<Difference> {
    for (let tries = 0; tries < 8; tries += 1) {
      await act()
      const found = await validate(db, { settleSeconds: 0, pauseMs: 50 })
      const difference = found.find((one) => one.kind === kind)
      if (difference !== undefined) return difference
    }
    throw new Error(`${kind} was not found`)
  }
  const untilClean = async () => expect(await validate(site.db, { settleSeconds: 15 })).toEqual([])

  it('is clean, and says so, with a door open and with none', async () => {
    const env = { ...site.settings }
    expect(await run(['--json', '--settle', '1'], env)).toMatchObject({ code: 0 })
    await open()
    const { code, text } = await run([], env)
    expect(text).toMatch(
      /^Clean: nothing differs\. 1 agent, 1 list, 1 address compared in [\d.]+ s \(\d looks?\)\.$/,
    )
    expect(code).toBe(0)
    await close()
  })

  it('finds what stands there though it was closed, and who left it', async () => {
    await open()
    await close()
    const found = await plant('leftOpen', () => ipset('add', set, home, 'timeout', '300', '-exist'))
    expect(found).toMatchObject({
      agent: 'edge',
      list: `ipset:${set}`,
      address: home,
      userName: 'alex',
      knocs: 'SSH',
    })
    await untilClean()
  })

  it('finds what is missing, what stands too long, too short, and without an end', async () => {
    await open()
    const missing = await plant('missing', () => ipset('del', set, home, '-exist'))
    expect(missing).toMatchObject({ address: home, userName: 'alex' })
    const long = await plant('tooLong', () => ipset('add', set, home, 'timeout', '999999', '-exist'))
    expect(long.detail).toMatch(/^ends \d+ s after its end$/)
    expect(await plant('tooShort', () => ipset('add', set, home, 'timeout', '60', '-exist'))).toMatchObject({
      address: home,
    })
    const endless = await plant('tooLong', () => ipset('add', set, home, 'timeout', '0', '-exist'))
    expect(endless.detail).toBe('it has no end there')
    await untilClean()
    await close()
  })

  it('finds an end that was changed in the database, an order nobody gave, and a grant without an entry', async () => {
    await open()
    const move = (seconds: number) =>
      sql`
      update entries set until = until + make_interval(secs => ${seconds}),
        ordered_until = ordered_until + make_interval(secs => ${seconds}) where desired = 'open'`.execute(
        site.db,
      )
    expect(await plant('tooLong', () => move(-120))).toMatchObject({ address: home })
    await move(120)
    const order = sql`
      insert into entries (target_id, address, desired, until, ordered_until, user_name, generation, applied_generation)
      select target_id, '10.9.9.9', 'open', until, ordered_until, 'nobody', nextval('generations'), 0
      from entries where desired = 'open' on conflict (target_id, address) do update set desired = 'open', until = excluded.until, ordered_until = excluded.ordered_until`
    expect(await plant('ungranted', () => order.execute(site.db))).toMatchObject({
      address: '10.9.9.9',
      userName: 'nobody',
    })
    const drop = sql`delete from entries where address = ${home}::inet`
    expect(await plant('unordered', () => drop.execute(site.db))).toMatchObject({
      address: home,
      userName: 'alex',
    })
    // The auditor, a duty of every ten seconds, puts right what was changed behind its back.
    await expect.poll(() => validate(site.db, { settleSeconds: 5 }), { timeout: 30_000 }).toEqual([])
    await site.untilStatus(alex, aclId, [0])
    await close()
  })

  it('tells foreign entries, which don’t count when they are to be ignored', async () => {
    await ipset('add', set, '198.51.100.7', 'timeout', '0')
    const { code, text } = await run(['--settle', '0'], site.settings)
    expect(text).toMatch(new RegExp(`^FOREIGN  edge  ipset:${set} \\(SSH\\)  198\\.51\\.100\\.7`, 'm'))
    expect(text).toContain('--ignore-foreign')
    expect(code).toBe(1)
    const ignored = await run(['--settle', '0', '--ignore-foreign', '--json'], site.settings)
    expect(ignored.code).toBe(0)
    const report = JSON.parse(ignored.text) as {
      clean: boolean
      differences: { kind: string; counts: boolean }[]
    }
    expect(report.clean).toBe(true)
    expect(report.differences).toMatchObject([{ kind: 'foreign', counts: false }])
    await ipset('del', set, '198.51.100.7')
  })

  it('says of a script’s list that only reports can be compared', async () => {
    const { ID } = await site.console.request<{ ID: string }>('POST', '/admin/knocs', {
      Backend: { AgentID: agent.id, Config: { script: { Command: 'gate.sh' } } },
      ACL: { Description: 'Gate', ClickToGrant: true, Config: { script: { Name: 'gate' } } },
      UserIDs: [alex.userId],
    })
    await alex.grant(ID)
    await site.untilStatus(alex, ID, [0])
    const [found, ...others] = await validate(site.db, { settleSeconds: 1 })
    expect(found).toMatchObject({
      kind: 'unlistable',
      agent: 'edge',
      knocs: 'Gate',
      detail: '1 open, 0 not yet answered, as the agent reported',
    })
    expect(others).toEqual([])
    expect(await validate(site.db, { settleSeconds: 1, acceptReported: true })).toEqual([])
    await site.console.request('DELETE', `/admin/knocs/${ID}`)
    await untilClean()
  })

  it('is clean while somebody opens and closes without a pause', async () => {
    let isOver = false
    const clicking = (async () => {
      while (!isOver) {
        await alex.grant(aclId).catch(() => undefined)
        await alex.revoke(aclId).catch(() => undefined)
      }
    })()
    for (let times = 0; times < 3; times += 1) expect(await validate(site.db)).toEqual([])
    isOver = true
    await clicking
    await site.untilStatus(alex, aclId, [9])
  })

  it('compares 20,000 addresses of one list in seconds, in little memory, and finds the one that differs', async () => {
    const { ID } = await site.aKnoc(agent.id, { name: 'Crowd', set4: crowd, people: [alex] })
    const first = inetOf(0)
    await sql`
      with s as (select id, user_id, ends_at from sessions where ended_at is null and user_id = ${alex.userId} limit 1),
      g as (
        insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
        select s.id, s.user_id, ${ID}, ${first}::inet + n, ${home}::inet, 'own', 'click', s.ends_at
        from s, generate_series(0, 19999) n returning address, ends_at)
      insert into entries (target_id, address, desired, until, ordered_until, user_name, generation, applied_generation)
      select t.target_id, g.address, 'open', g.ends_at, g.ends_at, 'alex', g.n, g.n
      from (select *, nextval('generations') as n from g) g
      join acl_targets t on t.acl_id = ${ID} and t.family = 4`.execute(site.db)
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from max(until) - clock_timestamp())::integer as seconds from entries`.execute(
      site.db,
    )
    const lines = Array.from(
      { length: 20_000 },
      (_, n) => `add ${crowd} ${inetOf(n)} timeout ${rows[0]?.seconds}`,
    )
    const file = join(host.folder, 'crowd')
    writeFileSync(file, `${lines.join('\n')}\n`)
    await ipset('restore', '-file', file)
    // As the database does by itself within a minute: a plan for an empty table takes for ever on a full one.
    await sql`analyze`.execute(site.db)
    const before = process.memoryUsage().rss
    const startedAt = performance.now()
    const report = await runValidation(patient.db)
    const seconds = (performance.now() - startedAt) / 1_000
    const grewMb = (process.memoryUsage().rss - before) / 1_048_576
    console.log(
      `20,000 addresses: ${seconds.toFixed(1)} s, ${report.looks} looks, ${grewMb.toFixed(0)} MB more`,
    )
    expect(report).toMatchObject({ differences: [], entries: 20_000 })
    expect(seconds).toBeLessThan(30)
    expect(grewMb).toBeLessThan(64)
    const lost = inetOf(12_345)
    const take = () => ipset('del', crowd, lost, '-exist')
    expect(await plant('missing', take, patient.db)).toMatchObject({ address: lost })
    await sql`delete from entries e using targets t where t.id = e.target_id and t.key like ${`%:${crowd}`}`.execute(
      site.db,
    )
    await sql`delete from grants where acl_id = ${ID}`.execute(site.db)
    await ipset('flush', crowd)
    await site.console.request('DELETE', `/admin/knocs/${ID}`)
  })
  const inetOf = (n: number): string => `10.40.${n >> 8}.${n & 255}`

  it('names each door of an agent that was killed, since when, and is clean when it is back', async () => {
    await open()
    await agent.process.kill()
    await until('the server notices', async () => (await linkedAgents()) === 0, { withinMs: 15_000 })
    const { code, text } = await run(['--settle', '0'], site.settings)
    expect(text).toMatch(
      new RegExp(
        `^AWAY  edge  ipset:${set} \\(SSH\\)  ${home.replaceAll('.', '\\.')}  alex  since 20\\d\\d-`,
        'm',
      ),
    )
    expect(text).toContain('AWAY: the agent is away')
    expect(code).toBe(1)
    site.startAgent(agent, { quick: true })
    await until('the agent is linked', async () => (await linkedAgents()) === 1, { withinMs: 30_000 })
    await untilClean()
  })

  it('says when it is asked for wrongly, and when there is no database to ask', async () => {
    const said: string[] = []
    const io = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) }
    for (const args of [
      ['--settle', 'long'],
      ['--settle', ''],
      ['--timeout', '0'],
      ['--frobnicate'],
      ['everything'],
    ])
      expect(await command.run(args, io), args.join(' ')).toBe(2)
    expect(said).toHaveLength(5)
    expect(said[0]).toBe('--settle takes 0 to 600 seconds.\nRead `npx knoc validate --help`.')
    const away = await run([], { ...site.settings, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/knoc' })
    expect(away.text).toContain('Nothing was compared.')
    expect(away.code).toBe(3)
    const nothing = { ...site.settings, DATABASE_URL: '', KNOC_DATA_DIR: join(host.folder, 'nothing') }
    const empty = await run([], nothing)
    expect(empty.text).toContain('No server is running on')
    expect(empty.code).toBe(3)
  })

  it('leaves neither rows nor repairs nor dead processes behind', async () => {
    const { rows } = await sql<{ left: number }>`select count(*)::integer as left from validations`.execute(
      site.db,
    )
    expect(rows).toEqual([{ left: 0 }])
    expect(site.crashes()).toEqual([])
  })
})

it('runs beside a server on its own embedded database, and says when there is none', {
  timeout: 60_000,
}, async () => {
  const folder = join('/tmp', `knoc-validate-${process.pid}`)
  const env = {
    DATABASE_URL: '',
    REDIS_URL: '',
    KNOC_DATA_DIR: folder,
    KNOC_PORT: String(await freePort()),
    KNOC_HOST: '127.0.0.1',
  }
  const server = startProgram(knoc('serve'), { KNOC_LOG_LEVEL: 'warn', ...env })
  await server.said(/^Knoc is ready/, 60_000)
  expect(await run([], env)).toMatchObject({ code: 0 })
  await server.stop()
  expect(await run([], env)).toMatchObject({ code: 3 })
})
