import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestText } from '#machines/protocol.ts'
import { anOrder, ipsetTarget, until } from './testing/builders.ts'
import { hostClock } from './testing/compose.ts'
import { hasKernelSets } from './testing/namespace.ts'
import { aWiredHost } from './testing/wired-host.ts'

describe.skipIf(!hasKernelSets())('the agent, on the real kernel', () => {
  let host: Awaited<ReturnType<typeof aWiredHost>>
  beforeEach(async () => {
    host = await aWiredHost()
  })
  afterEach(() => host.close())

  const inMs = (ms: number) => Date.now() + ms

  it('enrols, opens and closes both families, says journalled and then verified', async () => {
    await host.startLinked()
    const open4 = anOrder(host.four, '192.0.2.7', 11, inMs(60_000))
    const open6 = anOrder(host.six, '2001:db8::7', 12, inMs(60_000))
    const batch = host.server.order(open4, open6)
    await until(
      'both verified',
      () => host.outcomeOf(open4) === 'verified' && host.outcomeOf(open6) === 'verified',
    )
    expect(host.server.ofType('journalled').some((frame) => frame.batch === batch)).toBe(true)
    expect(host.stands('192.0.2.7') && host.stands('2001:db8::7', 'six')).toBe(true)
    const close4 = anOrder(host.four, '192.0.2.7', 13, 0)
    host.server.order(close4)
    await until('closed', () => host.outcomeOf(close4) === 'verified')
    expect(host.stands('192.0.2.7')).toBe(false)
    expect(
      host.server
        .ofType('hello')[0]
        ?.capabilities.ipset.ipsets.map(({ name }) => name)
        .sort(),
    ).toEqual(['four', 'six'])
  })

  it('answers a repeated order again, ignores an older one, and never re-opens by either', async () => {
    await host.startLinked()
    const open = anOrder(host.four, '192.0.2.7', 5, inMs(60_000))
    const close = anOrder(host.four, '192.0.2.7', 6, 0)
    host.server.order(open)
    host.server.order(close)
    await until('closed', () => host.outcomeOf(close) === 'verified')
    const closesTold = () =>
      host.server
        .ofType('results')
        .flatMap(({ results }) => results)
        .filter(({ generation }) => generation === close.generation).length
    const told = closesTold()
    host.server.order(open)
    host.server.order(close)
    await until('answered again', () => closesTold() > told)
    expect(host.stands('192.0.2.7')).toBe(false)
  })

  it('closes at the end by itself with the server gone, within a second', async () => {
    await host.startLinked()
    const end = inMs(2_400)
    host.server.order(anOrder(host.four, '192.0.2.7', 1, end))
    await until('open', () => host.stands('192.0.2.7'))
    await host.server.goAway()
    await until('closed', () => !host.stands('192.0.2.7'))
    const lateMs = Date.now() - end
    expect(lateMs).toBeGreaterThan(-100)
    expect(lateMs).toBeLessThan(1_000)
  })

  it('puts a flushed set back within 5 s and says so; keeps and reports what others put there', async () => {
    await host.startLinked()
    const opens = Array.from({ length: 50 }, (_, index) =>
      anOrder(host.four, `192.0.2.${index}`, index + 1, inMs(60_000)),
    )
    host.server.order(...opens)
    await until('open', () => host.ns.entries('four').size === 50)
    host.ns.run('flush', 'four')
    host.ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    const tookMs = await until('back', () => host.ns.entries('four').size === 51, 7_000)
    // Five seconds and one look.
    expect(tookMs).toBeLessThan(6_000)
    await until('told', () =>
      host.server.ofType('drift').some(({ drifts }) => drifts.some(({ kind }) => kind === 'foreign')),
    )
    const drifts = host.server.ofType('drift').flatMap((frame) => frame.drifts)
    expect(drifts).toContainEqual(expect.objectContaining({ kind: 'missing', count: 50, repaired: true }))
    expect(drifts).toContainEqual(
      expect.objectContaining({ kind: 'foreign', count: 1, sample: ['203.0.113.5'], repaired: false }),
    )
  })

  it('makes a destroyed set again, and rewrites an end that somebody changed', async () => {
    await host.startLinked()
    host.server.order(
      anOrder(host.four, '192.0.2.7', 1, inMs(60_000)),
      anOrder(host.six, '2001:db8::7', 2, inMs(60_000)),
    )
    await until('open', () => host.stands('192.0.2.7') && host.stands('2001:db8::7', 'six'))
    host.ns.run('destroy', 'four')
    host.ns.run('-exist', 'add', 'six', '2001:db8::7', 'timeout', '9999')
    const entries = () => (host.ns.run('list', '-n').includes('four') ? host.ns.entries('four') : new Map())
    await until(
      'back',
      () => entries().has('192.0.2.7') && (host.ns.entries('six').get('2001:db8::7') ?? 0) < 61,
      8_000,
    )
    const kinds = () => host.server.ofType('drift').flatMap((frame) => frame.drifts.map(({ kind }) => kind))
    await until('told', () => kinds().includes('listGone') && kinds().includes('wrongEnd'))
  })

  it('removes foreign entries where the knoc says so', async () => {
    const strict = ipsetTarget('four', 4, { id: host.four.id, foreignEntries: 'remove' })
    host.server.targets.splice(0, 1, strict)
    await host.startLinked()
    host.ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    await until('gone', () => !host.stands('203.0.113.5'), 7_000)
  })

  it('fails an open on a missing set with a clear word, and succeeds once the set is there', async () => {
    const later = ipsetTarget('later', 4)
    host.server.targets.push(later)
    await host.startLinked()
    const open = anOrder(later, '192.0.2.7', 1, inMs(60_000))
    host.server.order(open)
    await until('failed', () => host.outcomeOf(open) === 'failed')
    expect(host.server.resultOf(open)?.error?.code).toBe('setMissing')
    host.ns.run('create', 'later', 'hash:ip', 'timeout', '0')
    await until('verified', () => host.outcomeOf(open) === 'verified', 7_000)
    expect(host.stands('192.0.2.7', 'later')).toBe(true)
  })

  it('answers digests by the documented formula, and takes the truth of buckets', async () => {
    await host.startLinked()
    const opens = Array.from({ length: 300 }, (_, index) =>
      anOrder(host.four, `10.0.${index >> 8}.${index & 255}`, index + 1, inMs(60_000)),
    )
    host.server.order(...opens)
    host.server.order(
      anOrder(host.four, '10.0.0.9', 400, 0),
      anOrder(host.four, '10.0.0.8', 401, inMs(90_000)),
    )
    await until('open', () => host.ns.entries('four').size === 299)
    host.server.send({ type: 'digestRequest', request: 7, targetId: host.four.id })
    await until('a digest', () => host.server.ofType('digest').length > 0)
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
    expect(host.server.ofType('digest')[0]?.buckets).toEqual(
      right.map((value) => value.toString(16).padStart(16, '0')),
    )
    const all = Array.from({ length: 256 }, (_, index) => index)
    const piece = {
      type: 'buckets',
      batch: 90,
      nowMs: Date.now(),
      targetId: host.four.id,
      buckets: all,
      asOfGeneration: 500,
    } as const
    host.server.send({ ...piece, entries: [anOrder(host.four, '10.0.0.1', 2, inMs(60_000))], last: false })
    host.server.send({ ...piece, entries: [anOrder(host.four, '172.16.0.1', 499, inMs(60_000))], last: true })
    await until(
      'the truth',
      () => [...host.ns.entries('four').keys()].sort().join() === '10.0.0.1,172.16.0.1',
    )
  })

  it('in a new epoch lower generations count, and what it does not name is closed', async () => {
    await host.startLinked()
    host.server.order(
      anOrder(host.four, '192.0.2.1', 100, inMs(60_000)),
      anOrder(host.four, '192.0.2.2', 101, inMs(60_000)),
    )
    await until('open', () => host.ns.entries('four').size === 2)
    await host.stopAgents()
    host.server.state.epoch = 'after-a-restore'
    await host.startLinked()
    expect(host.server.ofType('hello').at(-1)).toMatchObject({ highestGeneration: 101 })
    host.sendTruth(3, anOrder(host.four, '192.0.2.2', 3, inMs(60_000)))
    await until('closed', () => !host.stands('192.0.2.1'))
    const close = anOrder(host.four, '192.0.2.2', 4, 0)
    host.server.order(close)
    await until(
      'closed by a low generation',
      () => host.outcomeOf(close) === 'verified' && !host.stands('192.0.2.2'),
    )
  })

  it('closes for silence counted from the truth, not from traffic, and comes back with it', async () => {
    const truthAtMs = Date.now() - 27_000
    host.server.state.truthAtMs = truthAtMs
    await host.startLinked()
    // From now on two seconds and a bit, however long the start took.
    const afterSeconds = Math.ceil((Date.now() - truthAtMs) / 1_000) + 2
    host.server.order(
      anOrder(host.four, '192.0.2.7', 1, inMs(600_000), { silence: { afterSeconds, untilMs: 0 } }),
      anOrder(host.four, '192.0.2.8', 2, inMs(600_000)),
    )
    await until('open', () => host.stands('192.0.2.7'))
    await until('closed for silence', () => !host.stands('192.0.2.7'))
    expect(host.stands('192.0.2.8')).toBe(true)
    host.server.state.truthAtMs = null
    await until('back', () => host.stands('192.0.2.7'))
  })

  it('opens the new link before it drops the old one when the server moves it', async () => {
    await host.startLinked()
    host.server.send({ type: 'move', afterMs: 100 })
    await until('a second hello', () => host.server.ofType('hello').length === 2)
    await until('the first dropped', () => host.server.sockets[0]?.readyState === 3)
    const open = anOrder(host.four, '192.0.2.7', 1, inMs(60_000))
    host.server.order(open)
    await until('answered on the new link', () => host.outcomeOf(open) === 'verified')
  })

  it('closes everything when the server does not know it, and nothing for any other refusal', async () => {
    await host.startLinked()
    host.server.order(anOrder(host.four, '192.0.2.7', 1, inMs(60_000)))
    await until('open', () => host.stands('192.0.2.7'))
    host.server.refuse({ status: 409, err: 'err.agentConflict' })
    host.server.sockets.at(-1)?.close(1011)
    await wait(800)
    expect(host.stands('192.0.2.7')).toBe(true)
    await host.stopAgents()
    host.server.refuse({ status: 401, err: 'err.agentUnknown' })
    await host.start()
    await until('closed', () => !host.stands('192.0.2.7'))
  })

  it('starts without a server: closes what is over, puts back what is not', async () => {
    await host.startLinked()
    const end = inMs(2_500)
    host.server.order(
      anOrder(host.four, '192.0.2.1', 1, end),
      anOrder(host.four, '192.0.2.2', 2, inMs(60_000)),
    )
    await until('open', () => host.ns.entries('four').size === 2)
    await host.stopAgents()
    await host.server.goAway()
    host.ns.run('flush', 'four')
    host.ns.run('add', 'four', '192.0.2.1', 'timeout', '600')
    await wait(end + 100 - Date.now())
    await host.start()
    await until('put back', () => host.stands('192.0.2.2'))
    expect([...host.ns.entries('four').keys()]).toEqual(['192.0.2.2'])
  })

  it('after a reboot with the clock in 1970 keeps everything closed until the server was reached', async () => {
    await host.startLinked()
    const open = anOrder(host.four, '192.0.2.1', 1, inMs(60_000))
    host.server.order(open)
    await until('open', () => host.ns.entries('four').size === 1)
    await wait(5_300)
    await host.stopAgents()
    await host.server.goAway()
    const started = performance.now()
    const in1970 = () => 20_000 + performance.now() - started
    await host.start({
      host: hostClock('boot-2', { wallNow: in1970, uptimeNow: in1970, bootAtStart: 20_000 }),
    })
    expect(host.ns.entries('four').size).toBe(0)
    await host.server.comeBack()
    await until('a link', () => host.server.ofType('hello').length > 1, 8_000)
    expect(host.server.ofType('hello').at(-1)?.epoch).toBeNull()
    expect(host.ns.entries('four').size).toBe(0)
    host.sendTruth(1, open)
    await until('back with the server', () => host.stands('192.0.2.1'), 4_000)
    expect(host.ns.entries('four').get('192.0.2.1')).toBeLessThan(56)
  })

  it('holds a 28-day grant in steps the kernel can count', async () => {
    await host.startLinked()
    const open = anOrder(host.four, '192.0.2.7', 1, inMs(28 * 86_400_000))
    host.server.order(open)
    await until('verified', () => host.outcomeOf(open) === 'verified')
    expect(host.ns.entries('four').get('192.0.2.7')).toBeGreaterThan(2_147_000)
    await wait(5_500)
    expect(host.server.ofType('drift')).toEqual([])
  })

  it('with a full disk still closes, refuses to open, and believes its journal again only when it is whole', async () => {
    mkdirSync(host.data)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k,mode=0700', 'tmpfs', host.data])
    try {
      await host.startLinked()
      const opened = anOrder(host.four, '192.0.2.1', 1, inMs(60_000))
      host.server.order(opened)
      await until('open', () => host.outcomeOf(opened) === 'verified')
      await wait(400)
      fillDisk(host.data)
      const close = anOrder(host.four, '192.0.2.1', 2, 0)
      const open = anOrder(host.four, '192.0.2.2', 3, inMs(60_000))
      // What the last pages of the log still take is not the case in question.
      const more = Array.from({ length: 400 }, (_, index) =>
        anOrder(host.four, `10.9.${index >> 8}.${index & 255}`, 10 + index, inMs(60_000)),
      )
      host.server.order(...more, close, open)
      await until('closed', () => host.outcomeOf(close) === 'verified')
      await until('refused', () => host.outcomeOf(open) === 'failed')
      expect(host.server.resultOf(open)?.error?.code).toBe('diskFull')
      expect(host.ns.entries('four').size).toBe(0)
      expect(existsSync(`${host.data}/journal.trusted`)).toBe(false)
      rmSync(`${host.data}/filling`)
      await until('trusted again', () => existsSync(`${host.data}/journal.trusted`))
      const again = anOrder(host.four, '192.0.2.3', 600, inMs(60_000))
      host.server.order(again)
      await until('opens again', () => host.outcomeOf(again) === 'verified')
    } finally {
      await host.stopAgents()
      execFileSync('umount', [host.data])
    }
  })

  it('empties the managed sets when the journal cannot be believed, and takes the truth from the server', async () => {
    await host.startLinked()
    host.server.order(anOrder(host.four, '192.0.2.1', 1, inMs(60_000)))
    await until('open', () => host.ns.entries('four').size === 1)
    await host.stopAgents()
    writeFileSync(`${host.data}/journal.db`, 'this is no journal, this is no journal at all')
    rmSync(`${host.data}/journal.db-wal`, { force: true })
    host.ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    await host.server.goAway()
    await host.start()
    expect([...host.ns.entries('four').keys()]).toEqual(['203.0.113.5'])
    expect(existsSync(`${host.data}/journal.db.unbelieved`)).toBe(true)
  })

  it('does not believe a journal that is older than the last write of this boot', async () => {
    const runFolder = `${host.ns.folder}/run`
    mkdirSync(runFolder)
    await host.startLinked({ runFolder })
    host.server.order(anOrder(host.four, '192.0.2.1', 1, inMs(60_000)))
    await until('open', () => host.ns.entries('four').size === 1)
    await host.stopAgents()
    execFileSync('cp', ['-a', host.data, `${host.ns.folder}/snapshot`])
    await host.startLinked({ runFolder })
    const close = anOrder(host.four, '192.0.2.1', 2, 0)
    host.server.order(close, anOrder(host.four, '192.0.2.2', 3, inMs(60_000)))
    await until('closed', () => host.outcomeOf(close) === 'verified' && host.stands('192.0.2.2'))
    await host.stopAgents()
    rmSync(host.data, { recursive: true })
    execFileSync('cp', ['-a', `${host.ns.folder}/snapshot`, host.data])
    await host.server.goAway()
    await host.start({ runFolder })
    expect(host.ns.entries('four').size).toBe(0)
  })

  it('keeps a door of two targets that mean one set open until both let go', async () => {
    const draining = ipsetTarget('four', 4, { key: host.four.key })
    host.server.targets.push(draining)
    await host.startLinked()
    host.server.order(
      anOrder(host.four, '192.0.2.7', 1, inMs(60_000)),
      anOrder(draining, '192.0.2.7', 2, inMs(30_000)),
    )
    await until('open', () => (host.ns.entries('four').get('192.0.2.7') ?? 0) > 31)
    const close = anOrder(host.four, '192.0.2.7', 3, 0)
    host.server.order(close)
    await until('answered', () => host.outcomeOf(close) === 'verified')
    expect(host.ns.entries('four').get('192.0.2.7')).toBeLessThan(31)
    const last = anOrder(draining, '192.0.2.7', 4, 0)
    host.server.order(last)
    await until('closed', () => host.outcomeOf(last) === 'verified' && !host.stands('192.0.2.7'))
  })

  it('a script that hangs holds no set up; scripts get arguments and variables, flush when forgotten', async () => {
    const scriptFolder = `${host.ns.folder}/scripts`
    mkdirSync(scriptFolder)
    const told = `${host.ns.folder}/told`
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
    host.server.targets.push(quick, slow)
    await host.startLinked({ scriptFolder })
    const hanging = anOrder(slow, '192.0.2.1', 1, inMs(60_000))
    const reported = anOrder(quick, '192.0.2.1', 2, inMs(60_000))
    const kernel = anOrder(host.four, '192.0.2.1', 3, inMs(60_000))
    const batch = host.server.order(hanging, reported, kernel)
    await until('the set', () => host.outcomeOf(kernel) === 'verified')
    expect(host.outcomeOf(hanging)).toBeUndefined()
    expect(host.server.ofType('journalled').some((frame) => frame.batch === batch)).toBe(true)
    await until('reported', () => host.outcomeOf(reported) === 'reported')
    expect(readFileSync(told, 'utf8')).toBe('add quick 192.0.2.1 add 192.0.2.1/32 erika\n')
    await until('timed out', () => host.server.resultOf(hanging)?.error?.code === 'timeout')
    host.server.targets.splice(2, 2)
    host.server.sockets.at(-1)?.close(1011)
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
