import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requireProgram } from '#tests/support/debian.ts'
import { until } from '#tests/support/until.ts'
import { anOrder, quietLog } from '../testing/builders.ts'
import { composeAgent } from '../testing/compose.ts'
import {
  acls,
  aFakeSocket,
  aHaproxyWithService,
  haproxyTarget,
  type TestHaproxy,
} from '../testing/haproxy.ts'
import { startWireServer, type WireServer } from '../testing/wire-server.ts'

const token = 'a-token-of-more-than-twenty-characters'
const static4 = '198.51.100.0/24'

describe.skipIf(!requireProgram('haproxy'))('the agent with a HAProxy', { timeout: 60_000 }, () => {
  let haproxy: TestHaproxy
  let server: WireServer
  let dataFolder: string
  let target: ReturnType<typeof haproxyTarget>
  let stops: (() => Promise<unknown>)[]
  let warnings: string[]

  const start = async (haproxySockets = [haproxy.socket]) => {
    const made = composeAgent({
      dataFolder,
      ipset: '/bin/false',
      server: server.url.href,
      token,
      haproxy: haproxySockets,
      log: { ...quietLog, warn: (_: unknown, text?: string) => void warnings.push(text ?? '') },
    })
    stops.push(made.stop)
    await made.agent.start()
    return made
  }
  const startLinked = async (over?: Parameters<typeof start>[0]) => {
    const { agent } = await start(over)
    await until('a link', () => agent.isLinked())
  }
  const entries = async () => (await haproxy.entries(acls.tcp)).filter((text) => text !== static4)
  const verified = (order: ReturnType<typeof anOrder>) =>
    until('the order is verified', () => server.resultOf(order)?.outcome === 'verified')
  const drifts = () => server.ofType('drift').flatMap((frame) => frame.drifts)
  const order = (address: string, generation: number, untilMs: number, over: { cut?: boolean } = {}) =>
    anOrder(target, address, generation, untilMs, over)
  /** Not only the regular look found what was lost. */
  const expectNoticed = () => expect(warnings).toContainEqual(expect.stringMatching(/was restarted/))
  const inMs = (ms: number) => Date.now() + ms

  beforeEach(async () => {
    haproxy = await aHaproxyWithService({ statics: [static4] })
    dataFolder = mkdtempSync(join(tmpdir(), 'knoc-hap-agent-'))
    target = haproxyTarget(haproxy.socket, acls.tcp)
    server = await startWireServer({ token })
    server.targets.push(target)
    stops = []
    warnings = []
  })
  afterEach(async () => {
    for (const stop of stops) await stop().catch(() => undefined)
    await server.goAway().catch(() => undefined)
    await haproxy.remove()
    rmSync(dataFolder, { recursive: true, force: true })
  })

  it('ends an entry by its own clock with the server gone', async () => {
    await startLinked()
    const brief = order('192.0.2.1', 1, inMs(1_500))
    server.order(brief)
    await verified(brief)
    await server.goAway()
    await until('the entry is gone', async () => (await entries()).length === 0)
    const lateMs = Date.now() - brief.untilMs
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(1_000)
  })

  it('puts everything back within 5 s of a restart, without being asked, and reports it', async () => {
    await startLinked()
    const orders = ['192.0.2.1', '2001:db8::1'].map((address, index) =>
      order(address, index + 1, inMs(600_000)),
    )
    server.order(...orders)
    for (const one of orders) await verified(one)
    await haproxy.kill()
    await new Promise((resolve) => setTimeout(resolve, 700))
    await haproxy.start()
    const tookMs = await until('the entries are back', async () => (await entries()).length === 2)
    expect(tookMs).toBeLessThan(5_000)
    expectNoticed()
    await until('it is reported', () => drifts().some(({ kind, repaired }) => kind === 'missing' && repaired))
  })

  it('puts everything back within 5 s of a reload, which breaks no connection', async () => {
    await startLinked()
    const one = order('192.0.2.1', 1, inMs(600_000))
    server.order(one)
    await verified(one)
    await haproxy.reload()
    expect(await until('the entry is back', async () => (await entries()).length === 1)).toBeLessThan(5_000)
    expectNoticed()
  })

  it('closes after a crash what is past its end before it looks for the server', async () => {
    const { stop } = await start()
    await until('a link', () => server.ofType('hello').length > 0)
    const [brief, lasting] = [order('192.0.2.1', 1, inMs(1_000)), order('192.0.2.2', 2, inMs(600_000))]
    server.order(brief, lasting)
    await verified(brief)
    await verified(lasting)
    // HAProxy keeps what nobody takes away: an agent that is gone leaves the door open past its end.
    await stop()
    stops = []
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, brief.untilMs - Date.now() + 100)))
    expect(await entries()).toEqual(['192.0.2.1', '192.0.2.2'])
    await server.goAway()
    await start()
    expect(await entries()).toEqual(['192.0.2.2'])
  })

  it.each([
    ['ends the streams of a door that is closed with cutting', true],
    ['lets the streams of a door drain that is closed without', false],
  ])('%s', async (_, cut) => {
    target = haproxyTarget(haproxy.socket, acls.tcp)
    server.targets.push(target)
    await startLinked()
    const opened = order('127.0.0.5', 1, inMs(600_000), { cut })
    server.order(opened)
    await verified(opened)
    const stream = connect({ host: '127.0.0.1', port: haproxy.tcpPort, localAddress: '127.0.0.5' })
    let heard = 0
    let isOver = false
    stream.on('data', () => (heard += 1))
    stream.on('error', () => undefined)
    stream.on('close', () => {
      isOver = true
    })
    stream.write('hello\n')
    await until('the stream talks', () => heard > 0)
    const closed = order('127.0.0.5', 2, 0, { cut })
    server.order(closed)
    await verified(closed)
    if (cut) await until('the stream ends', () => isOver)
    else {
      await new Promise((resolve) => setTimeout(resolve, 700))
      expect(isOver).toBe(false)
    }
    stream.destroy()
  })

  it('puts right what somebody changed by hand within 5 s, also while another socket hangs, and finds no wrong ends', async () => {
    const hung = await aFakeSocket(() => undefined)
    try {
      const other = haproxyTarget(hung.path, acls.tcp)
      // It is looked at first.
      server.targets.unshift(other)
      await startLinked([haproxy.socket, hung.path])
      const stuck = anOrder(other, '192.0.2.9', 1, inMs(600_000))
      const orders = ['192.0.2.1', '192.0.2.2'].map((address, index) =>
        order(address, index + 2, inMs(600_000)),
      )
      server.order(stuck, ...orders)
      for (const one of orders) await verified(one)
      await haproxy.say(`del acl #${acls.tcp} 192.0.2.1;add acl #${acls.tcp} 0.0.0.0/0`)
      const tookMs = await until('the entry is back', async () => (await entries()).includes('192.0.2.1'))
      expect(tookMs).toBeLessThan(6_500)
      // What nobody ordered is reported and stays: the knoc does not say that it goes.
      expect(await haproxy.entries(acls.tcp)).toEqual(expect.arrayContaining([static4, '0.0.0.0/0']))
      expect(new Set(drifts().map(({ kind }) => kind))).toEqual(new Set(['missing', 'foreign']))
      await until('the hung one is told', () => server.resultOf(stuck)?.outcome === 'failed')
      expect(server.resultOf(stuck)?.error).toMatchObject({ code: 'timeout' })
    } finally {
      hung.stop()
    }
  })

  it('takes away what nobody ordered where the knoc says so, also what the administrator wrote', async () => {
    server.targets[0] = { ...target, foreignEntries: 'remove' }
    await haproxy.say(`add acl #${acls.tcp} 0.0.0.0/0`)
    await startLinked()
    const one = order('192.0.2.1', 1, inMs(600_000))
    server.order(one)
    await verified(one)
    await haproxy.reload()
    await until(
      'only what is ordered stands',
      async () => (await haproxy.entries(acls.tcp)).join() === '192.0.2.1',
    )
  })
})
