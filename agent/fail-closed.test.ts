import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { longestKernelTimeoutSeconds } from '#machines/journal.ts'
import { renewAt } from './standing.ts'
import { anOrder, until } from './testing/builders.ts'
import { hasKernelSets } from './testing/namespace.ts'
import { aSetClock, aWiredHost } from './testing/wired-host.ts'

const hour = 3_600_000
const day = 24 * hour
const address = '192.0.2.7'

/** The agent closes by itself within this time of the end; more here, as tests share their machine. */
const lateMs = 1_000

it('an end that the kernel can’t count is written again halfway there, and no other', () => {
  const now = 1_800_000_000_000
  expect(renewAt(now + 28 * day, now)).toBe(now + longestKernelTimeoutSeconds * 500)
  expect(renewAt(now + longestKernelTimeoutSeconds * 1_000 + 1, now)).not.toBeNull()
  expect(renewAt(now + longestKernelTimeoutSeconds * 1_000, now)).toBeNull()
})

describe.skipIf(!hasKernelSets())('a door ends by itself', () => {
  let site: Awaited<ReturnType<typeof aWiredHost>>
  beforeEach(async () => {
    site = await aWiredHost()
  })
  afterEach(() => site.close())

  /** Opens the door until so many milliseconds from now; its end. */
  async function openFor(ms: number, over: Parameters<typeof anOrder>[4] = {}): Promise<number> {
    const end = Date.now() + ms
    site.server.order(anOrder(site.four, address, 1, end, over))
    await until('open', () => site.stands(address))
    return end
  }

  /** How late it was closed, in milliseconds; before its end is less than nothing. */
  async function lateness(end: number): Promise<number> {
    await until('closed', () => !site.stands(address), end - Date.now() + 5_000)
    return Date.now() - end
  }

  const expectOnTime = (late: number) => {
    expect(late).toBeGreaterThan(-100)
    expect(late).toBeLessThan(lateMs)
  }

  it('when the network is cut without a word', async () => {
    await site.startLinked()
    const end = await openFor(1_400)
    site.server.state.isBeating = false
    expectOnTime(await lateness(end))
  })

  it('when the agent is restarted meanwhile, and the server is gone', async () => {
    await site.startLinked()
    const end = await openFor(2_600)
    await wait(400)
    await site.stopAgents()
    await site.server.goAway()
    await site.start()
    expect(site.stands(address)).toBe(true)
    expectOnTime(await lateness(end))
  })

  it('when nobody lives but the kernel: at the end, rounded up to a whole second', async () => {
    await site.startLinked()
    const end = await openFor(1_300)
    await site.stopAgents()
    const late = await lateness(end)
    expect(late).toBeGreaterThan(-100)
    expect(late).toBeLessThan(1_000 + lateMs)
  })

  it.each([
    ['an hour ahead', hour],
    ['an hour behind', -hour],
    ['in 1970', -Date.now()],
  ])('on a host whose clock is %s', async (_, wallOffMs) => {
    const { host, state } = aSetClock()
    state.wallOffMs = wallOffMs
    await site.startLinked({ host })
    const end = await openFor(1_400)
    await site.server.goAway()
    expectOnTime(await lateness(end))
  })

  it.each([
    ['an hour ahead', hour],
    ['an hour back', -hour],
  ])('on a host whose clock is set %s in the middle of it', async (_, wallOffMs) => {
    const { host, state } = aSetClock()
    await site.startLinked({ host })
    const end = await openFor(1_700)
    await site.server.goAway()
    await wait(300)
    state.wallOffMs = wallOffMs
    expectOnTime(await lateness(end))
  })

  it('when the host slept over its end: within a second and a bit of waking up', async () => {
    const { host, state } = aSetClock()
    await site.startLinked({ host })
    await openFor(10 * 60_000)
    await site.server.goAway()
    state.sleptMs = hour
    const woke = Date.now()
    expect(await lateness(woke)).toBeLessThan(1_000 + lateMs)
  })

  it('after 28 days, by timeouts that the kernel can count and that are written again in steps', async () => {
    const { host, state } = aSetClock()
    await site.startLinked({ host })
    await openFor(28 * day)
    const remaining = () => site.ns.entries('four').get(address) ?? 0
    expect(remaining()).toBeGreaterThan(longestKernelTimeoutSeconds - 60)
    await site.server.goAway()
    state.skippedMs = 13 * day
    await until('written again', () => remaining() < (15 * day) / 1_000 + 2)
    expect(remaining()).toBeGreaterThan((15 * day) / 1_000 - 60)
    state.skippedMs = 28 * day
    await until('closed', () => !site.stands(address))
  })

  it('however short it is, and is never given to the kernel without an end', async () => {
    await site.startLinked()
    const seen = new Set<number>()
    for (let index = 1; index <= 12; index += 1) {
      site.server.order(anOrder(site.four, address, index, Date.now() + index * 40))
      const until = Date.now() + 120
      while (Date.now() < until) {
        for (const [, seconds] of site.ns.entries('four')) seen.add(seconds)
        await wait(1)
      }
    }
    await until('closed', () => !site.stands(address))
    expect([...seen].filter((seconds) => seconds < 1 || seconds > 2)).toEqual([])
    expect(seen.size).toBeGreaterThan(0)
  })

  it('or is kept at once when the agent is told that it is too old to open', async () => {
    await site.startLinked()
    await openFor(60_000)
    await site.stopAgents()
    site.server.state.mayOpen = false
    await site.startLinked()
    const [open, close] = [
      anOrder(site.four, '192.0.2.8', 2, Date.now() + 60_000),
      anOrder(site.four, address, 3, 0),
    ]
    site.server.order(open)
    await until('refused', () => site.outcomeOf(open) === 'failed')
    expect(site.server.resultOf(open)?.error?.code).toBe('agentTooOld')
    expect([...site.ns.entries('four').keys()]).toEqual([address])
    site.server.order(close)
    await until('closed', () => site.outcomeOf(close) === 'verified' && !site.stands(address))
  })

  it('when its agent was deleted while it was linked', async () => {
    await site.startLinked()
    await openFor(60_000)
    site.server.sockets.at(-1)?.close(4401)
    await until('closed', () => !site.stands(address))
  })

  describe('at a reboot of the host', () => {
    /** The kernel forgets all sets; the service makes them again, empty. */
    const forgetSets = () => site.ns.run('flush', 'four')

    it.each([
      ['right', 0],
      ['an hour ahead', hour],
    ])('and stays closed until the server says otherwise, with a clock that is %s', async (_, wallOffMs) => {
      await site.startLinked()
      const end = await openFor(60_000)
      await wait(300)
      await site.stopAgents()
      await site.server.goAway()
      forgetSets()
      const { host, state } = aSetClock('boot-2')
      state.wallOffMs = wallOffMs
      await site.start({ host })
      await wait(500)
      expect(site.stands(address)).toBe(false)
      await site.server.comeBack()
      await until('linked', () => site.server.ofType('hello').length > 1, 15_000)
      expect(site.server.ofType('hello').at(-1)?.epoch).toBeNull()
      site.sendTruth(1, anOrder(site.four, address, 1, end))
      await until('open again', () => site.stands(address))
      expect(site.ns.entries('four').get(address)).toBeLessThanOrEqual(61)
    })

    it('and no door of a journal that a snapshot brought back opens, not even while the server is asked', async () => {
      await site.startLinked()
      await openFor(60_000)
      await wait(300)
      await site.stopAgents()
      forgetSets()
      // Since then the server has closed the door: its truth names none.
      const { host } = aSetClock('boot-2')
      const seen: string[] = []
      const looking = setInterval(() => seen.push(...site.ns.entries('four').keys()), 5)
      await site.startLinked({ host })
      await wait(300)
      site.sendTruth(2)
      await wait(500)
      clearInterval(looking)
      expect(seen).toEqual([])
      expect(site.server.ofType('results')).toHaveLength(1)
    })
  })
})
