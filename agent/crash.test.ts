import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anOrder, ipsetTarget, until } from './testing/builders.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from './testing/namespace.ts'
import { startWireServer, type WireServer } from './testing/wire-server.ts'

const childFile = fileURLToPath(new URL('testing/child.ts', import.meta.url))
const token = 'a-token-of-more-than-twenty-characters'
const kills = 5

describe.skipIf(!hasKernelSets())('an agent that is killed in the middle of its work', () => {
  let ns: TestNamespace
  let server: WireServer
  let child: ChildProcess | undefined
  const four = ipsetTarget('four', 4)

  const startChild = async () => {
    const options = { dataFolder: `${ns.folder}/data`, ipset: ns.ipset, server: server.url.href, token }
    const started = spawn(process.execPath, ['run', '-A', '--quiet', childFile, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    const hellos = server.ofType('hello').length
    await once(started.stdout, 'data')
    await until('a hello', () => server.ofType('hello').length > hellos, 10_000)
  }
  const killChild = async () => {
    const killed = child
    child = undefined
    if (killed?.pid === undefined) return
    process.kill(killed.pid, 'SIGKILL')
    await once(killed, 'exit')
  }

  beforeAll(async () => {
    ns = createNamespace()
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    server = await startWireServer({ token })
    server.targets.push(four)
  })
  afterAll(async () => {
    await killChild()
    await server.goAway()
    ns.remove()
  })

  it(`agrees with the kernel after ${kills} kills between write and apply: journalled is never lost, closed stays closed`, async () => {
    let generation = 0
    const wanted = new Map<string, ReturnType<typeof anOrder>>()
    for (let round = 0; round < kills; round += 1) {
      await startChild()
      const batches: { batch: number; orders: ReturnType<typeof anOrder>[] }[] = []
      for (let burst = 0; burst < 6; burst += 1) {
        const orders = Array.from({ length: 40 }, () => {
          generation += 1
          const address = `10.0.0.${(generation * 7919) % 120}`
          return anOrder(four, address, generation, generation % 3 === 0 ? 0 : Date.now() + 600_000)
        })
        batches.push({ batch: server.order(...orders), orders })
      }
      // Somewhere between the first write and the last result; later from round to round.
      const journalled = (batch: number) => server.ofType('journalled').some((frame) => frame.batch === batch)
      await until('the first batch', () => journalled(batches[0]?.batch ?? 0))
      await new Promise((resolve) => setTimeout(resolve, round * 3))
      await killChild()
      await new Promise((resolve) => setTimeout(resolve, 50))
      // Looked at once: a word that comes later belongs to an order that is sent again.
      const confirmed = new Set(batches.filter(({ batch }) => journalled(batch)))
      for (const { orders } of confirmed) for (const order of orders) wanted.set(order.address, order)
      // What was not confirmed is unsettled on the server; it sends it again at the next hello, newest first.
      await startChild()
      const unconfirmed = batches.filter((sent) => !confirmed.has(sent)).flatMap(({ orders }) => orders)
      for (const order of unconfirmed) wanted.set(order.address, order)
      if (unconfirmed.length > 0) {
        const again = server.order(...unconfirmed)
        await until('the rest', () => journalled(again))
      }
      const expected = [...wanted.values()]
        .filter(({ desired }) => desired === 'open')
        .map(({ address }) => address)
      await until(
        `round ${round}: the kernel agrees`,
        () => [...ns.entries('four').keys()].sort().join() === expected.sort().join(),
        8_000,
      )
      await killChild()
    }
    expect(generation).toBe(kills * 240)
  }, 120_000)
})
