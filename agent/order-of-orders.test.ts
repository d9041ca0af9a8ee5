import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anOrder, until } from './testing/builders.ts'
import { hasKernelSets } from './testing/namespace.ts'
import { aWiredHost } from './testing/wired-host.ts'

const inAMinute = () => Date.now() + 60_000

describe.skipIf(!hasKernelSets())('orders', () => {
  let site: Awaited<ReturnType<typeof aWiredHost>>
  beforeAll(async () => {
    site = await aWiredHost()
    await site.startLinked()
  })
  afterAll(() => site.close())

  it('that come ten times are carried out once, and answered each time', async () => {
    const open = anOrder(site.four, '192.0.2.1', 1, inAMinute())
    const results = () =>
      site.server
        .ofType('results')
        .flatMap((frame) => frame.results)
        .filter(({ address }) => address === open.address)
    site.server.order(open, open, open)
    for (let time = 0; time < 4; time += 1) site.server.order(open)
    await until('answered', () => results().length > 0)
    // Somebody takes it out: a repeated order is no new one, so only the watch for drift would put it back.
    site.ns.run('del', 'four', open.address)
    const answered = results().length
    for (let time = 0; time < 3; time += 1) {
      site.server.order(open)
      await wait(50)
    }
    await until('answered each time', () => results().length >= answered + 3)
    expect(results().every(({ outcome }) => outcome === 'verified')).toBe(true)
    expect(site.stands(open.address)).toBe(false)
    const close = anOrder(site.four, open.address, 2, 0)
    for (let time = 0; time < 10; time += 1) site.server.order(close)
    await until('closed', () => site.outcomeOf(close) === 'verified')
    expect(site.stands(open.address)).toBe(false)
  })

  it('are carried out at once, not when somebody looks for drift', async () => {
    for (const generation of [10, 20]) {
      const open = anOrder(site.four, '192.0.2.2', generation, inAMinute())
      const close = anOrder(site.four, open.address, generation + 1, 0)
      site.server.order(open)
      await until('open', () => site.outcomeOf(open) === 'verified')
      site.server.order(close)
      const tookMs = await until('closed', () => site.outcomeOf(close) === 'verified', 8_000)
      expect(tookMs).toBeLessThan(2_500)
    }
  })

  it('that come out of order leave what the youngest says, whatever the order', async () => {
    const addresses = Array.from({ length: 30 }, (_, index) => `192.0.3.${index}`)
    const orders = addresses.flatMap((address, index) =>
      Array.from({ length: 8 }, (_, step) =>
        anOrder(site.four, address, 100 + index * 8 + step, (step + index) % 2 === 0 ? inAMinute() : 0),
      ),
    )
    const shuffled = orders.toSorted((a, b) => mix(a.generation) - mix(b.generation))
    const batches = Array.from({ length: 24 }, (_, index) =>
      site.server.order(...shuffled.slice(index * 10, index * 10 + 10)),
    )
    await until('all journalled', () =>
      batches.every((batch) => site.server.ofType('journalled').some((frame) => frame.batch === batch)),
    )
    const open = addresses.filter((_, index) => (7 + index) % 2 === 0).toSorted()
    await until(
      'the youngest of each stands',
      () => [...site.ns.entries('four').keys()].toSorted().join() === open.join(),
    )
  })
})

/** A fixed shuffle. */
const mix = (value: number): number => Math.imul(value, 2_654_435_761) >>> 0
