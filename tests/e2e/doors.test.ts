import { randomInt } from 'node:crypto'
import { env } from 'node:process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aDoorScene, type Scene } from '#tests/support/door-scene.ts'
import { hold, places, release } from '#tests/support/door-stage.ts'
import { startStorm } from '#tests/support/door-storm.ts'
import { hasKernel } from '#tests/support/host.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { until } from '#tests/support/until.ts'
import { type DoorCase, doorCases, ipset, mine } from './door-cases.ts'

/** Every change reaches the kernel in this time, from the moment it is asked for. */
const boundMs = 1_000

describe.skipIf(!hasKernel())('what a change does to doors that are open', { timeout: 60_000 }, () => {
  let scene: Scene
  let isCleoSpent = true
  const measured: { what: string; how: string; ms: number }[] = []

  beforeAll(async () => {
    scene = await aDoorScene()
  }, 120_000)
  afterAll(async () => {
    const [worst] = measured.toSorted((a, b) => b.ms - a.ms)
    console.log(
      measured.map(({ what, how, ms }) => `${ms.toFixed(0).padStart(5)} ms ${how}: ${what}`).join('\n'),
    )
    console.log(
      `change → kernel: ${measured.length} measured, worst ${worst?.ms.toFixed(0)} ms (${worst?.what})`,
    )
    await scene.close()
  })

  async function play(given: DoorCase, how: 'open' | 'under way'): Promise<void> {
    if (isCleoSpent) await scene.aNewCleo()
    isCleoSpent = given.spendsCleo ?? false
    const held = how === 'under way' ? Object.values(scene.processes) : []
    try {
      await setUp(given, held)
      if (how === 'open') await scene.untilDoors('the doors before', given.before)
      const askedAt = performance.now()
      const done = given.change(scene)
      if (held.length > 0) await done
      const from = held.length > 0 ? performance.now() : askedAt
      for (const agent of held) release(agent)
      await Promise.all([done, scene.untilDoors('the doors after', given.after)])
      const ms = performance.now() - from
      measured.push({ what: given.what, how, ms })
      expect(ms).toBeLessThan(boundMs)
      await checkRest(given)
    } finally {
      for (const agent of held) release(agent)
      await cleanUp(given)
    }
  }

  async function setUp(
    { knocs = [{}], clicks = [['cleo', 0]], first }: DoorCase,
    held: TestProcess[],
  ): Promise<void> {
    scene.knocs = []
    for (const { fields, for: people = ['cleo'] as const } of knocs)
      scene.knocs.push(
        await scene.makeKnoc(
          fields?.(scene) ?? {},
          people.map((who) => scene.ids[who]),
        ),
      )
    await first?.(scene)
    for (const agent of held) hold(agent)
    await Promise.all(clicks.map(([who, knoc]) => scene.by[who].click(scene.knocs[knoc] ?? '')))
  }

  /** What stands has come to rest: it is what the tables say, told a second time, and has the ends it should have. */
  async function checkRest({ after, atMostSeconds = Infinity, atLeastSeconds = 0 }: DoorCase): Promise<void> {
    await scene.untilSettled()
    const standing = await scene.doors()
    expect([...standing.keys()].toSorted()).toEqual(after.toSorted())
    for (const seconds of standing.values()) {
      expect(seconds).toBeLessThanOrEqual(atMostSeconds)
      expect(seconds).toBeGreaterThanOrEqual(atLeastSeconds)
    }
    const isByScript = [...standing.values()].includes(0)
    if (!isByScript) expect([...(await scene.reference()).keys()].toSorted()).toEqual(after.toSorted())
  }

  async function cleanUp({ undo }: DoorCase): Promise<void> {
    await undo?.(scene)
    for (const id of scene.knocs) await scene.remove(`/admin/knocs/${id}`).catch(() => null)
    await scene.untilDoors('nothing is left', [])
    await scene.untilSettled()
  }

  it.each(doorCases)('while it is open: $what', { retry: 1 }, (given) => play(given, 'open'))
  it.each(doorCases)('while its order is under way: $what', { retry: 1 }, (given) => play(given, 'under way'))

  it('is exact after fifty sessions came and went while administrators changed everything', {
    timeout: 120_000,
  }, async () => {
    await scene.license()
    const seed = Number(env['DOORS_SEED'] ?? randomInt(2 ** 31))
    const storm = await startStorm(scene, { seed, ms: 15_000 })
    const done = await storm.over
    console.log(JSON.stringify(done))
    expect(done.faults).toEqual([])
    expect(done.opened).toBeGreaterThan(50)
    expect(done.changes).toBeGreaterThan(5)
    await scene.untilSettled()
    // What is past its end the kernel may hold for the rest of a second.
    await until('kernels and tables agree', async () => (await differences()).length === 0, {
      withinMs: 2_000,
    }).catch(async () => expect(await differences()).toEqual([]))
    expect(await scene.audit()).toBe(0)
    for (const id of storm.knocs) await scene.remove(`/admin/knocs/${id}`)
    // The last of its changes may have been a small one.
    await scene.license()
    await scene.untilDoors('nothing is left', [])
  })

  /** Doors of one side only, and doors whose kernel holds them longer than the tables say. */
  async function differences(): Promise<string[]> {
    const wanted = await scene.reference()
    const seen = await scene.doors()
    const seenAt = await scene.databaseNow()
    return [
      ...[...wanted.keys()].filter((door) => !seen.has(door)).map((door) => `missing: ${door}`),
      ...[...seen].flatMap(([door, seconds]) => {
        const end = wanted.get(door)
        if (end === undefined) return [`too many: ${door}`]
        return seenAt + (seconds - 1) * 1000 > end + 500 ? [`too long: ${door} ${seconds} s`] : []
      }),
    ]
  }

  describe('with an agent that is away, too old or unknown', () => {
    const close = [
      { what: 'its knoc', act: (knoc: string) => scene.remove(`/admin/knocs/${knoc}`) },
      { what: 'its user', act: () => scene.remove(`/admin/users/${scene.ids.cleo}`) },
    ]

    /** A door of Cleo's that stands, with no agent left to mind it. */
    async function aDoorLeftAlone(): Promise<string> {
      await scene.aNewCleo()
      const knoc = await scene.makeKnoc({}, [scene.ids.cleo])
      await scene.by.cleo.click(knoc)
      await scene.untilDoors('the door', [mine])
      await scene.untilSettled()
      await scene.processes.edge.kill()
      return knoc
    }

    it.each(close)('closes when it comes back what lost $what meanwhile', async ({ act }) => {
      const knoc = await aDoorLeftAlone()
      await act(knoc)
      expect(await scene.unsettled()).toBe(1)
      expect([...(await scene.doors()).keys()]).toEqual([mine])
      scene.processes.edge = await scene.startAgent('edge')
      expect(await scene.untilDoors('the door is shut', [])).toBeLessThan(boundMs)
      await scene.untilSettled()
      await scene.remove(`/admin/knocs/${knoc}`).catch(() => null)
    })

    it('closes and does not open while it is below the least version', async () => {
      const knoc = await aDoorLeftAlone()
      const other = await scene.makeKnoc(ipset('b4'), [scene.ids.cleo])
      scene.processes.edge = await scene.startAgent('edge', { older: true })
      await scene.by.cleo.click(other)
      await until('the click fails', async () => (await scene.by.cleo.statusOf(other))?.Status === 1)
      expect([...(await scene.doors()).keys()]).toEqual([mine])
      const askedAt = performance.now()
      await scene.by.cleo.giveBack(knoc)
      await scene.untilDoors('the door is shut', [])
      expect(performance.now() - askedAt).toBeLessThan(boundMs)
      await scene.processes.edge.kill()
      scene.processes.edge = await scene.startAgent('edge')
      await scene.untilDoors('what failed is open', [`edge b4 ${places.away}`])
      for (const id of [knoc, other]) await scene.remove(`/admin/knocs/${id}`)
      await scene.untilDoors('nothing is left', [])
    })

    it('can’t be deleted before its knocs are, and closes everything when it is told that nobody knows it', async () => {
      const knoc = await aDoorLeftAlone()
      const remove = () => scene.remove(`/admin/agents/${scene.agents.edge.id}`)
      await expect(remove()).rejects.toMatchObject({ code: 'err.detachBackends' })
      await scene.remove(`/admin/knocs/${knoc}`)
      await remove()
      expect([...(await scene.doors()).keys()]).toEqual([mine])
      scene.processes.edge = scene.startProcess('edge')
      await scene.untilDoors('the door is shut', [])
    })
  })

  it('needed no repair by the auditor, and nothing crashed', () => {
    expect(scene.site.crashes()).toEqual([])
    expect(scene.site.logged().filter((line) => line.includes('had to repair'))).toEqual([])
  })
})
