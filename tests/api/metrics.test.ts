import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { metricsRoutes } from '#server/metrics/metrics.routes.ts'
import { createMetrics } from '#server/metrics/metrics.ts'
import { createRegistry } from '#server/metrics/registry.ts'
import { type Config, readConfig } from '#server/platform/config.ts'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { aDoor, aList, anAgentRow, closing } from '#tests/support/door-builders.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

const sources = { repairs: () => 0, failedNudges: () => 3 }

describe('the text of the metrics', () => {
  it('is Prometheus’ format 0.0.4, with every value of a label', () => {
    const registry = createRegistry()
    const counter = registry.counter(
      { name: 'a_total', help: 'Two\nlines \\ one.' },
      { name: 'kind', values: ['x', 'y'] },
    )
    counter.add('x', 2)
    // @ts-expect-error -- a value that wasn't declared makes no series
    counter.add('203.0.113.7')
    registry.value({ name: 'b', help: 'B.' }, 'gauge', () => [
      { value: 1.5, labels: { text: 'say "\\n"\n' } },
    ])
    registry.value({ name: 'c', help: 'C.' }, 'gauge', () => null)
    const histogram = registry.histogram({ name: 'd_seconds', help: 'D.' }, [0.1, 1])
    for (const seconds of [0.05, 0.1, 0.5, 7]) histogram.observe(seconds)
    expect(registry.text()).toBe(
      [
        '# HELP a_total Two\\nlines \\\\ one.',
        '# TYPE a_total counter',
        'a_total{kind="x"} 2',
        'a_total{kind="y"} 0',
        '# HELP b B.',
        '# TYPE b gauge',
        'b{text="say \\"\\\\n\\"\\n"} 1.5',
        '# HELP d_seconds D.',
        '# TYPE d_seconds histogram',
        'd_seconds_bucket{le="0.1"} 2',
        'd_seconds_bucket{le="1"} 3',
        'd_seconds_bucket{le="+Inf"} 4',
        'd_seconds_sum 7.65',
        'd_seconds_count 4',
        '',
      ].join('\n'),
    )
  })

  it('counts doors by the database, and nothing of anybody', async () => {
    const { db } = database
    const here = await anAgentRow(db, { online: true, name: 'the-agent' })
    const away = await anAgentRow(db)
    await anAgentRow(db, { enrolledAt: null, publicKey: null })
    const set = await aList(db, here.id)
    await aDoor(db, set, { userName: 'ada' })
    await aDoor(db, set, { ...closing(), attempts: 4, failedGeneration: 11, outcome: 'failed' })
    await aDoor(db, await aList(db, away.id), closing())
    const metrics = createMetrics({ db, sources })
    metrics.settled('revoke', 0.004)
    metrics.settled('grant', -0.2)
    metrics.drifted([
      { kind: 'missing', count: 2 },
      { kind: 'foreign', count: 1 },
    ])
    const text = await metrics.text()
    for (const line of [
      'knoc_database_up 1',
      'knoc_liveness_repairs_total 0',
      'knoc_close_failed 1',
      'knoc_debts 2',
      'knoc_overdue_doors 1',
      'knoc_open_entries 1',
      'knoc_orders_unsettled 2',
      'knoc_sessions 0',
      'knoc_agents{state="online"} 1',
      'knoc_agents{state="away"} 1',
      'knoc_agents{state="awaiting"} 1',
      'knoc_revoke_latency_seconds_bucket{le="0.005"} 1',
      'knoc_revoke_latency_seconds_count 1',
      'knoc_grant_latency_seconds_sum 0',
      'knoc_drift_total{kind="missing"} 2',
      'knoc_drift_total{kind="listGone"} 0',
      'knoc_nudges_failed_total 3',
    ])
      expect(text.split('\n')).toContain(line)
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m)
    expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m)
    expect(text).not.toMatch(/ada|the-agent|203\.0\.113/)
    const names = Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name]) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('asks the database once in 5 s however often it is read, and says when it can’t', async () => {
    let now = 0
    const { db } = database
    const metrics = createMetrics({ db, sources, now: () => now })
    const openEntries = async () => /^knoc_open_entries (\d+)$/m.exec(await metrics.text())?.[1]
    const [before] = await Promise.all([openEntries(), openEntries()])
    const { id } = await anAgentRow(db)
    await aDoor(db, await aList(db, id))
    now = 4_999
    expect(await openEntries()).toBe(before)
    now = 5_000
    expect(await openEntries()).toBe(String(Number(before) + 1))

    const away = await createMetrics({ db: await closedDatabase(), sources }).text()
    expect(away).toMatch(/^knoc_database_up 0$/m)
    expect(away).toMatch(/^knoc_nudges_failed_total 3$/m)
    expect(away).not.toMatch(/knoc_open_entries/)
  })
})

/** A database whose connections are closed. */
async function closedDatabase(): Promise<TestDatabase['db']> {
  const { db, drop } = await testDatabase({ empty: true })
  await drop()
  return db
}

describe('GET /metrics', () => {
  const token = 'a-token-of-prometheus'
  const ask = (
    env: Record<string, string>,
    { peer = '127.0.0.1', headers = {} }: { peer?: string; headers?: Record<string, string> } = {},
  ) => {
    const config: Config = readConfig({ KNOC_PUBLIC_URL: 'https://knoc.example', ...env })
    const metrics = { text: async () => 'knoc_x 1\n' }
    return new Hono<HttpEnv>()
      .route('/', metricsRoutes({ config, metrics }))
      .request('/metrics', { headers }, { peer })
  }

  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
    'is there for this host itself (%s)',
    async (peer) => {
      const answer = await ask({}, { peer })
      expect([answer.status, await answer.text()]).toEqual([200, 'knoc_x 1\n'])
      expect(answer.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
    },
  )

  it.each([
    ['another host', { peer: '198.51.100.7' }],
    ['nobody known', { peer: '' }],
    ['a proxy on this host', { headers: { 'X-Forwarded-For': '127.0.0.1' } }],
    ['a proxy that says so otherwise', { headers: { Via: '1.1 proxy' } }],
    ['a token though none is set', { peer: '198.51.100.7', headers: { Authorization: `Bearer ${token}` } }],
  ])('is not there for %s', async (_, from) => {
    const answer = await ask({ KNOC_TRUSTED_PROXIES: '127.0.0.1' }, from)
    expect([answer.status, await answer.text()]).toEqual([404, 'Not found.'])
  })

  it('asks everybody for the token once there is one, wherever they come from', async () => {
    const env = { KNOC_METRICS_TOKEN: token }
    const bearer = (text: string) => ({ headers: { Authorization: text } })
    const from = { peer: '198.51.100.7', ...bearer(`Bearer ${token}`) }
    expect((await ask(env, from)).status).toBe(200)
    expect((await ask(env, { ...from, headers: { ...from.headers, Via: '1.1 proxy' } })).status).toBe(200)
    for (const wrong of [
      '',
      `Bearer ${token}x`,
      `bearer ${token}`,
      token,
      'Bearer ',
      `Bearer ${'x'.repeat(300)}`,
    ])
      expect((await ask(env, bearer(wrong))).status, wrong).toBe(404)
    expect((await ask(env)).status).toBe(404)
  })

  it.each(['too-short', 'with a space in it', 'x'.repeat(257)])('refuses a token such as %j', (value) => {
    expect(() => readConfig({ KNOC_METRICS_TOKEN: value })).toThrow(/KNOC_METRICS_TOKEN/)
  })
})
