import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestText } from '#machines/protocol.ts'
import { anOrder, ipsetTarget, until } from './testing/builders.ts'
import { composeAgent, hostClock } from './testing/compose.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from './testing/namespace.ts'
import { startWireServer, type WireServer } from './testing/wire-server.ts'

const token = 'a-token-of-more-than-twenty-characters'

describe.skipIf(!hasKernelSets())('the agent, on the real kernel', () => {
  let ns: TestNamespace
  let server: WireServer
  let stops: (() => Promise<unknown>)[] = []
  const four = ipsetTarget('four', 4)
  const six = ipsetTarget('six', 6)
  const data = () => `${ns.folder}/data`

  const start = async (over: Partial<Parameters<typeof composeAgent>[0]> = {}) => {
    const made = composeAgent({
      dataFolder: data(),
      ipset: ns.ipset,
      server: server.url.href,
      token,
      ...over,
    })
    stops.push(made.stop)
    await made.agent.start()
    return made
  }
  const startLinked = async (over: Parameters<typeof start>[0] = {}) => {
    const links = server.ofType('hello').length
    const made = await start(over)
    await until('a link', () => server.ofType('hello').length > links && made.agent.isLinked())
    return made
  }
  const stopAll = async () => {
    for (const stop of stops) await stop()
    stops = []
  }
  const stands = (set: string, address: string) => ns.entries(set).has(address)
  const outcomeOf = (order: ReturnType<typeof anOrder>) => server.resultOf(order)?.outcome
  const inMs = (ms: number) => Date.now() + ms

  beforeEach(async () => {
    ns = createNamespace()
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    ns.run('create', 'six', 'hash:ip', 'family', 'inet6', 'timeout', '0')
    server = await startWireServer({ token })
    server.targets.push(four, six)
  })
  afterEach(async () => {
    await stopAll()
    await server.goAway().catch(() => {})
    ns.remove()
  })

  it('enrols, opens and closes both families, says journalled and then verified', async () => {
    await startLinked()
    const open4 = anOrder(four, '192.0.2.7', 11, inMs(60_000))
    const open6 = anOrder(six, '2001:db8::7', 12, inMs(60_000))
    const batch = server.order(open4, open6)
    await until('both verified', () => outcomeOf(open4) === 'verified' && outcomeOf(open6) === 'verified')
    expect(server.ofType('journalled').some((frame) => frame.batch === batch)).toBe(true)
    expect(stands('four', '192.0.2.7') && stands('six', '2001:db8::7')).toBe(true)
    const close4 = anOrder(four, '192.0.2.7', 13, 0)
    server.order(close4)
    await until('closed', () => outcomeOf(close4) === 'verified')
    expect(stands('four', '192.0.2.7')).toBe(false)
    expect(
      server
        .ofType('hello')[0]
        ?.capabilities.ipset.ipsets.map(({ name }) => name)
        .sort(),
    ).toEqual(['four', 'six'])
  })

  it('answers a repeated order again, ignores an older one, and never re-opens by either', async () => {
    await startLinked()
    const open = anOrder(four, '192.0.2.7', 5, inMs(60_000))
    const close = anOrder(four, '192.0.2.7', 6, 0)
    server.order(open)
    server.order(close)
    await until('closed', () => outcomeOf(close) === 'verified')
    const told = server.ofType('results').length
    server.order(open)
    server.order(close)
    await until('answered again', () => server.ofType('results').length > told)
    expect(stands('four', '192.0.2.7')).toBe(false)
  })

  it('closes at the end by itself with the server gone, to the tenth of a second', async () => {
    await startLinked()
    const end = inMs(2_400)
    server.order(anOrder(four, '192.0.2.7', 1, end))
    await until('open', () => stands('four', '192.0.2.7'))
    await server.goAway()
    await until('closed', () => !stands('four', '192.0.2.7'))
    expect(Math.abs(Date.now() - end)).toBeLessThan(250)
  })

  it('puts a flushed set back within 5 s and says so; keeps and reports what others put there', async () => {
    await startLinked()
    const opens = Array.from({ length: 50 }, (_, index) =>
      anOrder(four, `192.0.2.${index}`, index + 1, inMs(60_000)),
    )
    server.order(...opens)
    await until('open', () => ns.entries('four').size === 50)
    ns.run('flush', 'four')
    ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    const tookMs = await until('back', () => ns.entries('four').size === 51, 7_000)
    expect(tookMs).toBeLessThan(5_600)
    await until('told', () =>
      server.ofType('drift').some(({ drifts }) => drifts.some(({ kind }) => kind === 'foreign')),
    )
    const drifts = server.ofType('drift').flatMap((frame) => frame.drifts)
    expect(drifts).toContainEqual(expect.objectContaining({ kind: 'missing', count: 50, repaired: true }))
    expect(drifts).toContainEqual(
      expect.objectContaining({ kind: 'foreign', count: 1, sample: ['203.0.113.5'], repaired: false }),
    )
  })

  it('makes a destroyed set again, and rewrites an end that somebody changed', async () => {
    await startLinked()
    server.order(anOrder(four, '192.0.2.7', 1, inMs(60_000)), anOrder(six, '2001:db8::7', 2, inMs(60_000)))
    await until('open', () => stands('four', '192.0.2.7') && stands('six', '2001:db8::7'))
    ns.run('destroy', 'four')
    ns.run('-exist', 'add', 'six', '2001:db8::7', 'timeout', '9999')
    const entries = () => (ns.run('list', '-n').includes('four') ? ns.entries('four') : new Map())
    await until(
      'back',
      () => entries().has('192.0.2.7') && (ns.entries('six').get('2001:db8::7') ?? 0) < 61,
      8_000,
    )
    const kinds = () => server.ofType('drift').flatMap((frame) => frame.drifts.map(({ kind }) => kind))
    await until('told', () => kinds().includes('listGone') && kinds().includes('wrongEnd'))
  })

  it('removes foreign entries where the knoc says so', async () => {
    const strict = ipsetTarget('four', 4, { id: four.id, foreignEntries: 'remove' })
    server.targets.splice(0, 1, strict)
    await startLinked()
    ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    await until('gone', () => !stands('four', '203.0.113.5'), 7_000)
  })

  it('fails an open on a missing set with a clear word, and succeeds once the set is there', async () => {
    const later = ipsetTarget('later', 4)
    server.targets.push(later)
    await startLinked()
    const open = anOrder(later, '192.0.2.7', 1, inMs(60_000))
    server.order(open)
    await until('failed', () => outcomeOf(open) === 'failed')
    expect(server.resultOf(open)?.error?.code).toBe('setMissing')
    ns.run('create', 'later', 'hash:ip', 'timeout', '0')
    await until('verified', () => outcomeOf(open) === 'verified', 7_000)
    expect(stands('later', '192.0.2.7')).toBe(true)
  })

  it('answers digests by the documented formula, and takes the truth of buckets', async () => {
    await startLinked()
    const opens = Array.from({ length: 300 }, (_, index) =>
      anOrder(four, `10.0.${index >> 8}.${index & 255}`, index + 1, inMs(60_000)),
    )
    server.order(...opens)
    server.order(anOrder(four, '10.0.0.9', 400, 0), anOrder(four, '10.0.0.8', 401, inMs(90_000)))
    await until('open', () => ns.entries('four').size === 299)
    server.send({ type: 'digestRequest', request: 7, targetId: four.id })
    await until('a digest', () => server.ofType('digest').length > 0)
    const held = opens
      .map((order) => [order.address, order.generation] as const)
      .filter(([address]) => address !== '10.0.0.9')
    const right = Array.from({ length: 256 }, () => 0n)
    for (const [address, generation] of held) {
      const md5 = (text: string) => createHash('md5').update(text).digest('hex')
      const bucket = Number.parseInt(md5(address).slice(0, 2), 16)
      const newest = address === '10.0.0.8' ? 401 : generation
      right[bucket] = (right[bucket] ?? 0n) ^ BigInt(`0x${md5(digestText(address, newest)).slice(0, 16)}`)
    }
    expect(server.ofType('digest')[0]?.buckets).toEqual(
      right.map((value) => value.toString(16).padStart(16, '0')),
    )
    const all = Array.from({ length: 256 }, (_, index) => index)
    const piece = {
      type: 'buckets',
      batch: 90,
      nowMs: Date.now(),
      targetId: four.id,
      buckets: all,
      asOfGeneration: 500,
    } as const
    server.send({ ...piece, entries: [anOrder(four, '10.0.0.1', 2, inMs(60_000))], last: false })
    server.send({ ...piece, entries: [anOrder(four, '172.16.0.1', 499, inMs(60_000))], last: true })
    await until('the truth', () => [...ns.entries('four').keys()].sort().join() === '10.0.0.1,172.16.0.1')
  })

  it('in a new epoch lower generations count, and what it does not name is closed', async () => {
    const first = await startLinked()
    server.order(anOrder(four, '192.0.2.1', 100, inMs(60_000)), anOrder(four, '192.0.2.2', 101, inMs(60_000)))
    await until('open', () => ns.entries('four').size === 2)
    await first.stop()
    stops = []
    server.state.epoch = 'after-a-restore'
    await startLinked()
    expect(server.ofType('hello').at(-1)).toMatchObject({ highestGeneration: 101 })
    const all = Array.from({ length: 256 }, (_, index) => index)
    const entries = [anOrder(four, '192.0.2.2', 3, inMs(60_000))]
    server.send({
      type: 'buckets',
      batch: 1,
      nowMs: Date.now(),
      targetId: four.id,
      buckets: all,
      asOfGeneration: 3,
      entries,
      last: true,
    })
    await until('closed', () => !stands('four', '192.0.2.1'))
    const close = anOrder(four, '192.0.2.2', 4, 0)
    server.order(close)
    await until(
      'closed by a low generation',
      () => outcomeOf(close) === 'verified' && !stands('four', '192.0.2.2'),
    )
  })

  it('closes for silence counted from the truth, not from traffic, and comes back with it', async () => {
    await startLinked()
    const strict = anOrder(four, '192.0.2.7', 1, inMs(600_000), { silence: { afterSeconds: 30, untilMs: 0 } })
    server.state.truthAtMs = Date.now() - 27_500
    await stopAll()
    rmSync(data(), { recursive: true })
    server.state.truthAtMs = Date.now() - 27_500
    await startLinked()
    server.order(strict, anOrder(four, '192.0.2.8', 2, inMs(600_000)))
    await until('open', () => stands('four', '192.0.2.7'))
    await until('closed for silence', () => !stands('four', '192.0.2.7'), 4_000)
    expect(stands('four', '192.0.2.8')).toBe(true)
    server.state.truthAtMs = null
    await until('back', () => stands('four', '192.0.2.7'), 2_000)
  })

  it('opens the new link before it drops the old one when the server moves it', async () => {
    await startLinked()
    server.send({ type: 'move', afterMs: 100 })
    await until('a second hello', () => server.ofType('hello').length === 2)
    await until('the first dropped', () => server.sockets[0]?.readyState === 3)
    const open = anOrder(four, '192.0.2.7', 1, inMs(60_000))
    server.order(open)
    await until('answered on the new link', () => outcomeOf(open) === 'verified')
  })

  it('closes everything when the server does not know it, and nothing for any other refusal', async () => {
    await startLinked()
    server.order(anOrder(four, '192.0.2.7', 1, inMs(60_000)))
    await until('open', () => stands('four', '192.0.2.7'))
    server.refuse({ status: 409, err: 'err.agentConflict' })
    server.sockets.at(-1)?.close(1011)
    await new Promise((resolve) => setTimeout(resolve, 800))
    expect(stands('four', '192.0.2.7')).toBe(true)
    await stopAll()
    server.refuse({ status: 401, err: 'err.agentUnknown' })
    await start()
    await until('closed', () => !stands('four', '192.0.2.7'))
  })

  it('starts without a server: closes what is over, puts back what is not', async () => {
    const first = await startLinked()
    server.order(anOrder(four, '192.0.2.1', 1, inMs(1_200)), anOrder(four, '192.0.2.2', 2, inMs(60_000)))
    await until('open', () => ns.entries('four').size === 2)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await first.stop()
    stops = []
    await server.goAway()
    ns.run('flush', 'four')
    ns.run('add', 'four', '192.0.2.1', 'timeout', '600')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await start()
    await until('put back', () => stands('four', '192.0.2.2'))
    expect([...ns.entries('four').keys()]).toEqual(['192.0.2.2'])
  })

  it('after a reboot with the clock in 1970 keeps everything closed until the server was reached', async () => {
    const first = await startLinked()
    const open = anOrder(four, '192.0.2.1', 1, inMs(60_000))
    server.order(open)
    await until('open', () => ns.entries('four').size === 1)
    await new Promise((resolve) => setTimeout(resolve, 5_300))
    await first.stop()
    stops = []
    await server.goAway()
    const started = performance.now()
    const in1970 = () => 20_000 + performance.now() - started
    await start({ host: hostClock('boot-2', { wallNow: in1970, uptimeNow: in1970, bootAtStart: 20_000 }) })
    expect(ns.entries('four').size).toBe(0)
    await server.comeBack()
    await until('a link', () => server.ofType('hello').length > 1, 8_000)
    expect(server.ofType('hello').at(-1)?.epoch).toBeNull()
    expect(ns.entries('four').size).toBe(0)
    server.send({
      type: 'buckets',
      batch: 1,
      nowMs: Date.now(),
      targetId: four.id,
      buckets: Array.from({ length: 256 }, (_, index) => index),
      asOfGeneration: 1,
      entries: [open],
      last: true,
    })
    await until('back with the server', () => stands('four', '192.0.2.1'), 4_000)
    expect(ns.entries('four').get('192.0.2.1')).toBeLessThan(56)
  })

  it('holds a 28-day grant in steps the kernel can count', async () => {
    await startLinked()
    const open = anOrder(four, '192.0.2.7', 1, inMs(28 * 86_400_000))
    server.order(open)
    await until('verified', () => outcomeOf(open) === 'verified')
    expect(ns.entries('four').get('192.0.2.7')).toBeGreaterThan(2_147_000)
    await new Promise((resolve) => setTimeout(resolve, 5_500))
    expect(server.ofType('drift')).toEqual([])
  })

  it('with a full disk still closes, refuses to open, and believes its journal again only when it is whole', async () => {
    mkdirSync(data())
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k,mode=0700', 'tmpfs', data()])
    try {
      await startLinked()
      const opened = anOrder(four, '192.0.2.1', 1, inMs(60_000))
      server.order(opened)
      await until('open', () => outcomeOf(opened) === 'verified')
      await new Promise((resolve) => setTimeout(resolve, 400))
      fillDisk(data())
      const close = anOrder(four, '192.0.2.1', 2, 0)
      const open = anOrder(four, '192.0.2.2', 3, inMs(60_000))
      // What the last pages of the log still take is not the case in question.
      const more = Array.from({ length: 400 }, (_, index) =>
        anOrder(four, `10.9.${index >> 8}.${index & 255}`, 10 + index, inMs(60_000)),
      )
      server.order(...more, close, open)
      await until('closed', () => outcomeOf(close) === 'verified')
      await until('refused', () => outcomeOf(open) === 'failed')
      expect(server.resultOf(open)?.error?.code).toBe('diskFull')
      expect(ns.entries('four').size).toBe(0)
      expect(existsSync(`${data()}/journal.trusted`)).toBe(false)
      rmSync(`${data()}/filling`)
      await until('trusted again', () => existsSync(`${data()}/journal.trusted`))
      const again = anOrder(four, '192.0.2.3', 600, inMs(60_000))
      server.order(again)
      await until('opens again', () => outcomeOf(again) === 'verified')
    } finally {
      await stopAll()
      execFileSync('umount', [data()])
    }
  })

  it('empties the managed sets when the journal cannot be believed, and takes the truth from the server', async () => {
    const first = await startLinked()
    server.order(anOrder(four, '192.0.2.1', 1, inMs(60_000)))
    await until('open', () => ns.entries('four').size === 1)
    await first.stop()
    stops = []
    writeFileSync(`${data()}/journal.db`, 'this is no journal, this is no journal at all')
    rmSync(`${data()}/journal.db-wal`, { force: true })
    ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    await server.goAway()
    await start()
    expect([...ns.entries('four').keys()]).toEqual(['203.0.113.5'])
    expect(existsSync(`${data()}/journal.db.unbelieved`)).toBe(true)
  })

  it('does not believe a journal that is older than the last write of this boot', async () => {
    const runFolder = `${ns.folder}/run`
    mkdirSync(runFolder)
    const first = await startLinked({ runFolder })
    server.order(anOrder(four, '192.0.2.1', 1, inMs(60_000)))
    await until('open', () => ns.entries('four').size === 1)
    await first.stop()
    stops = []
    execFileSync('cp', ['-a', data(), `${ns.folder}/snapshot`])
    const second = await startLinked({ runFolder })
    const close = anOrder(four, '192.0.2.1', 2, 0)
    server.order(close, anOrder(four, '192.0.2.2', 3, inMs(60_000)))
    await until('closed', () => outcomeOf(close) === 'verified' && stands('four', '192.0.2.2'))
    await second.stop()
    stops = []
    rmSync(data(), { recursive: true })
    execFileSync('cp', ['-a', `${ns.folder}/snapshot`, data()])
    await server.goAway()
    await start({ runFolder })
    expect(ns.entries('four').size).toBe(0)
  })

  it('keeps a door of two targets that mean one set open until both let go', async () => {
    const draining = ipsetTarget('four', 4, { key: four.key })
    server.targets.push(draining)
    await startLinked()
    server.order(anOrder(four, '192.0.2.7', 1, inMs(60_000)), anOrder(draining, '192.0.2.7', 2, inMs(30_000)))
    await until('open', () => (ns.entries('four').get('192.0.2.7') ?? 0) > 31)
    const close = anOrder(four, '192.0.2.7', 3, 0)
    server.order(close)
    await until('answered', () => outcomeOf(close) === 'verified')
    expect(ns.entries('four').get('192.0.2.7')).toBeLessThan(31)
    const last = anOrder(draining, '192.0.2.7', 4, 0)
    server.order(last)
    await until('closed', () => outcomeOf(last) === 'verified' && !stands('four', '192.0.2.7'))
  })

  it('a script that hangs holds no set up; scripts get arguments and variables, flush when forgotten', async () => {
    const scriptFolder = `${ns.folder}/scripts`
    mkdirSync(scriptFolder)
    const told = `${ns.folder}/told`
    writeFileSync(
      `${scriptFolder}/door`,
      `#!/bin/sh\n[ "$MODE" = slow ] && sleep 30\necho "$@ $knoc_action $knoc_cidr $knoc_username" >> ${told}\n`,
    )
    chmodSync(`${scriptFolder}/door`, 0o755)
    const script = (name: string, mode: string) =>
      ipsetTarget('', 4, {
        type: 'script',
        family: null,
        key: `script:door:${name}`,
        backend: { Command: 'door', EnvVars: [{ Name: 'MODE', Sensitive: false }] },
        list: { Name: name, EnvVars: { MODE: { Value: mode, Encrypted: false } } },
      })
    const [quick, slow] = [script('quick', 'quick'), script('slow', 'slow')]
    server.targets.push(quick, slow)
    await startLinked({ scriptFolder })
    const hanging = anOrder(slow, '192.0.2.1', 1, inMs(60_000))
    const reported = anOrder(quick, '192.0.2.1', 2, inMs(60_000))
    const kernel = anOrder(four, '192.0.2.1', 3, inMs(60_000))
    const batch = server.order(hanging, reported, kernel)
    const tookMs = await until('the set', () => outcomeOf(kernel) === 'verified')
    expect(tookMs).toBeLessThan(1_500)
    expect(server.ofType('journalled').some((frame) => frame.batch === batch)).toBe(true)
    await until('reported', () => outcomeOf(reported) === 'reported')
    expect(readFileSync(told, 'utf8')).toBe('add quick 192.0.2.1 add 192.0.2.1/32 erika\n')
    await until('timed out', () => server.resultOf(hanging)?.error?.code === 'timeout')
    server.targets.splice(2, 2)
    server.sockets.at(-1)?.close(1011)
    await until('flushed', () => readFileSync(told, 'utf8').endsWith('flush quick flush  \n'), 6_000)
    expect(readFileSync(told, 'utf8')).toContain('del quick 192.0.2.1 del 192.0.2.1/32 erika\n')
  })
})

function fillDisk(folder: string): void {
  for (const size of [65_536, 4_096, 512, 1]) {
    try {
      for (;;) writeFileSync(`${folder}/filling`, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Full at this grain.
    }
  }
}
