import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Order } from '#machines/protocol.ts'
import { openJournal } from '../journal.ts'
import type { AgentLog } from '../log.ts'
import type { ProgramName } from '../programs.ts'
import { anOrder, ipsetTarget, quietLog, until } from '../testing/builders.ts'
import { composeAgent } from '../testing/compose.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from '../testing/namespace.ts'
import { startWireServer, type WireServer } from '../testing/wire-server.ts'
import { readCutFaults } from './cut-faults.ts'

const token = 'a-token-of-more-than-twenty-characters'
/** Two doors below the rule for established connections, and one for which two sets let people in. */
const rules = `*filter
:INPUT DROP [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -m set --match-set four src -j ACCEPT
-A INPUT -p tcp -m multiport --dports 80,8000:8010 -m set --match-set net4 src -j ACCEPT
-A INPUT -p tcp -m tcp --dport 8005 -m set --match-set four src -j ACCEPT
COMMIT
`

describe.skipIf(!hasKernelSets())('whoever leaves a list by an order that cuts', { timeout: 90_000 }, () => {
  let ns: TestNamespace
  let server: WireServer
  let stops: (() => Promise<unknown>)[] = []
  let generation = 0
  const four = ipsetTarget('four', 4)
  const net4 = ipsetTarget('net4', 4)
  const warnings: unknown[] = []
  const log: AgentLog = { ...quietLog, warn: (...said: unknown[]) => void warnings.push(said) }

  /** Programs of a host; `ss` writes down what it is told. */
  const programs: Partial<Record<ProgramName, string>> = {}
  const fake = (name: ProgramName, script: string) => {
    const path = join(ns.folder, name)
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
    programs[name] = path
  }
  const told = (): string[] => {
    const path = join(ns.folder, 'told')
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
  }
  const sawCut = (address: string) =>
    until(`a cut of ${address}`, () => told().some((line) => line.includes(`dst ${address} `)))

  const start = async () => {
    const { agent, stop } = composeAgent({
      dataFolder: join(ns.folder, 'data'),
      ipset: ns.ipset,
      server: server.url.href,
      token,
      find: (name) => (name === 'ipset' ? ns.ipset : programs[name]),
      log,
    })
    stops.push(stop)
    await agent.start()
    await until('a link', () => agent.isLinked())
  }
  const stopAll = async () => {
    for (const stop of stops) await stop()
    stops = []
  }
  const give = async (
    target: { id: string },
    address: string,
    untilMs: number,
    over: Partial<Order> = {},
  ) => {
    const order = anOrder(target, address, (generation += 1), untilMs, { cut: true, ...over })
    server.order(order)
    await until('an answer', () => server.resultOf(order) !== undefined)
    expect(server.resultOf(order)?.outcome).toBe('verified')
    return order
  }
  /** The same for several at once. */
  const giveAll = async (addresses: readonly string[], untilMs: number) => {
    const orders = addresses.map((address) =>
      anOrder(four, address, (generation += 1), untilMs, { cut: true }),
    )
    server.order(...orders)
    await until('all answers', () => orders.every((order) => server.resultOf(order) !== undefined))
  }
  const inMs = (ms: number) => Date.now() + ms

  beforeEach(async () => {
    ns = createNamespace()
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    ns.run('create', 'net4', 'hash:net', 'family', 'inet', 'timeout', '0')
    warnings.length = 0
    for (const name of Object.keys(programs)) delete programs[name as ProgramName]
    fake('iptables-nft-save', `cat <<'END'\n${rules}END`)
    fake('ss', `echo "$@" >> ${ns.folder}/told; echo ended`)
    server = await startWireServer({ token })
    server.targets.push(four, net4)
    await start()
  })
  afterEach(async () => {
    await stopAll()
    await server.goAway().catch(() => {})
    ns.remove()
  })

  it('loses his connections: revoked, at the end, left out of a bucket’s truth, on a list that is forgotten', async () => {
    await give(four, '192.0.2.1', inMs(60_000))
    await give(four, '192.0.2.1', 0)
    await until('a cut at both doors', () => told().length === 2)
    expect(told()).toEqual([
      '-tnHK state connected ( dst 192.0.2.1 ) and ( sport = :22 )',
      expect.stringContaining('8005'),
    ])
    await give(four, '192.0.2.2', inMs(2_000))
    await sawCut('192.0.2.2')
    await give(four, '192.0.2.3', inMs(60_000))
    const nobody = { asOfGeneration: generation, entries: [], last: true }
    const buckets = Array.from({ length: 256 }, (_, bucket) => bucket)
    server.send({ type: 'buckets', batch: 900, nowMs: Date.now(), targetId: four.id, buckets, ...nobody })
    await sawCut('192.0.2.3')
    await give(net4, '198.51.100.0/24', inMs(60_000))
    server.targets.splice(0, 2, four)
    server.sockets.at(-1)?.close(1012)
    await sawCut('198.51.100.0/24')
    expect(told().at(-1)).toContain('( sport = :80 or ( sport ge :8000 and sport le :8010 ) )')
  })

  it('loses them when the server does not know this agent', async () => {
    await give(four, '192.0.2.4', inMs(60_000))
    server.refuse({ status: 401, err: 'err.unknownAgent' })
    server.sockets.at(-1)?.close(4401)
    await sawCut('192.0.2.4')
  })

  it('keeps them when nobody said so, when he is back at once, and at ports that another set opens to him', async () => {
    await give(four, '192.0.2.5', inMs(60_000), { cut: false })
    await give(four, '192.0.2.5', 0, { cut: false })
    const open = anOrder(four, '192.0.2.6', (generation += 1), inMs(60_000), { cut: true })
    const close = anOrder(four, '192.0.2.6', (generation += 1), 0, { cut: true })
    const again = anOrder(four, '192.0.2.6', (generation += 1), inMs(60_000), { cut: true })
    server.order(open)
    server.order(close)
    server.order(again)
    await until('open again', () => server.resultOf(again) !== undefined)
    await give(four, '192.0.2.7', inMs(60_000))
    await give(net4, '192.0.2.7', inMs(60_000))
    await give(net4, '192.0.2.7', 0)
    await sawCut('192.0.2.7')
    // 8005 is his by the other set.
    expect(told().at(-1)).toMatch(
      /sport = :80 or \( sport ge :8000 and sport le :8004 \) or \( sport ge :8006 and sport le :8010 \) \)$/,
    )
    const cuts = told().length
    await give(four, '192.0.2.7', 0)
    await until('cuts at the doors of this set', () => told().length > cuts)
    const lines = told().join('\n')
    expect(lines).not.toContain('192.0.2.5')
    expect(ns.entries('four').has('192.0.2.6')).toBe(true)
  })

  it('loses them by the next start when the agent died in between', async () => {
    await give(four, '192.0.2.8', inMs(60_000))
    fake('ss', 'exit 1')
    await give(four, '192.0.2.8', 0)
    await stopAll()
    fake('ss', `echo "$@" >> ${ns.folder}/told; echo ended`)
    await start()
    await sawCut('192.0.2.8')
  })

  it('is shut out all the same where ss is missing or fails, which is said once and shown', async () => {
    fake('ss', 'echo "RTNETLINK answers: Operation not permitted" >&2; exit 1')
    for (const address of ['192.0.2.10', '192.0.2.11']) {
      await give(four, address, inMs(60_000))
      await give(four, address, 0)
      expect(ns.entries('four').has(address)).toBe(false)
    }
    await until('a warning', () => warnings.some((said) => JSON.stringify(said).includes('not permitted')))
    await new Promise((resolve) => setTimeout(resolve, 1_600))
    expect(warnings.filter((said) => JSON.stringify(said).includes('could not be ended'))).toHaveLength(1)
    const shown = () => readCutFaults(openJournal(join(ns.folder, 'data', 'journal.db')))
    await until('it is written down', () => shown().length > 0)
    expect(shown()).toEqual([{ list: four.key, text: expect.stringContaining('not permitted') }])
    rmSync(join(ns.folder, 'ss'))
    delete programs.ss
    await give(four, '192.0.2.12', inMs(60_000))
    await give(four, '192.0.2.12', 0)
  })

  it('keeps them when he is let in again while another’s cut is under way', async () => {
    fake('ss', `sleep 1; echo "$@" >> ${ns.folder}/told; echo ended`)
    const [another, back] = ['192.0.2.20', '192.0.2.21']
    await give(net4, another, inMs(60_000))
    await give(four, back, inMs(60_000))
    await give(net4, another, 0)
    await give(four, back, 0)
    await give(four, back, inMs(60_000))
    await sawCut(another)
    await give(four, another, inMs(60_000))
    await give(four, another, 0)
    await until('both doors', () => told().filter((line) => line.includes(another)).length === 3)
    expect(told().join('\n')).not.toContain(back)
  })

  it('has all he left behind forgotten by one command, whatever is in the kernel’s table', async () => {
    const addresses = Array.from({ length: 6 }, (_, n) => `192.0.2.${30 + n}`)
    const flowOf = (address: string, port: number) =>
      `tcp 6 99 TIME_WAIT src=${address} dst=192.0.2.1 sport=${port} dport=22 src=192.0.2.1 dst=${address} sport=22 dport=${port} mark=0 use=1`
    const table = ['198.51.100.1', ...addresses.slice(0, 5)].flatMap((address) =>
      Array.from({ length: 100 }, (_, n) => flowOf(address, 40_000 + n)),
    )
    writeFileSync(join(ns.folder, 'table'), `${table.join('\n')}\n`)
    fake(
      'conntrack',
      `case $1 in -L) echo "$@" >> ${ns.folder}/listed; cat ${ns.folder}/table;; *) cat >> ${ns.folder}/forgotten; echo . >> ${ns.folder}/runs;; esac`,
    )
    await stopAll()
    await start()
    await giveAll(addresses, inMs(60_000))
    await giveAll(addresses, 0)
    const read = (name: string) => {
      const path = join(ns.folder, name)
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
    }
    await until('both doors', () => told().length >= 2)
    expect(read('forgotten').filter((line) => line.endsWith(' 22'))).toEqual(
      addresses.slice(0, 5).map((address) => `-D -f ipv4 -p tcp -s ${address} --reply-port-src 22`),
    )
    expect(read('runs')).toHaveLength(1)
    expect(read('listed')).toContain('-L -f ipv4 -p tcp --reply-port-src 22')
  })

  it('loses them together with thousands of others, in a few runs that no close waits for', async () => {
    const addresses = Array.from({ length: 10_000 }, (_, n) => `10.1.${n >> 8}.${n & 255}`)
    const orderAll = async (untilMs: number) => {
      const orders = addresses.map((address) =>
        anOrder(four, address, (generation += 1), untilMs, { cut: true }),
      )
      for (let at = 0; at < orders.length; at += 500) server.order(...orders.slice(at, at + 500))
      const last = orders.at(-1) as Order
      await until(
        'all answered',
        () => server.resultOf(last) !== undefined && countAnswered() >= orders.length,
        60_000,
      )
      answered = 0
      server.frames.length = 0
    }
    const cutSoFar = () =>
      new Set(
        told()
          .join(' ')
          .match(/10\.1\.\d+\.\d+/g),
      )
    let answered = 0
    const countAnswered = () => {
      answered = server.ofType('results').reduce((sum, { results }) => sum + results.length, 0)
      return answered
    }
    // A slow ss: a second a run, which is 100 s for all of them.
    fake('ss', `sleep 1; echo "$@" >> ${ns.folder}/told; echo ended`)
    server.frames.length = 0
    await orderAll(inMs(600_000))
    await orderAll(0)
    // Had the closes waited for the runs, all would have been cut by now.
    expect(cutSoFar().size).toBeLessThan(addresses.length)
    expect(ns.entries('four').size).toBe(0)
    const path = join(ns.folder, 'ss')
    writeFileSync(path, `#!/bin/sh\necho "$@" >> ${ns.folder}/told; echo ended\n`)
    await until('all cut', () => cutSoFar().size === addresses.length, 60_000)
    // Two doors, 200 addresses a run.
    expect(told().length).toBeLessThan(150)
  })
})
