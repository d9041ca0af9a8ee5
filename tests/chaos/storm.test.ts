import { randomInt } from 'node:crypto'
import { env } from 'node:process'
import { describe, expect, it } from 'vitest'
import { hasKernel } from '#tests/support/host.ts'
import { canRunRedis } from '#tests/support/redis.ts'
import { runStorm, type StormReport } from './storm.ts'

/** The seed is printed, so that a failure can be had again; both queues get their turn by it. */
const seed = Number(env['CHAOS_SEED'] ?? randomInt(2 ** 31))
const queue = seed % 2 === 0 && (await canRunRedis()) ? 'redis' : 'postgres'
const seconds = 36

describe.skipIf(!hasKernel())('a storm', { timeout: 240_000 }, () => {
  it(`leaves no door open, locks nobody out and loses no click (seed ${seed}, queue on ${queue})`, async () => {
    const report = await runStorm({ seed, seconds, queue })
    const { breaches, faults, crashes, slow: _, ...numbers } = report
    console.log(JSON.stringify(numbers))
    const wrong = [...crashes, ...breaches.map(inWords), ...faults]
    expect(wrong, wrong.join('\n')).toEqual([])
    expect(numbers).toMatchObject({ lost: 0, leftOpen: 0, repairs: 0, streamsLeft: 0, streamsLost: 0 })
    for (const { doors, leftOpen } of Object.values(numbers.kinds)) {
      expect(doors).toBeGreaterThan(0)
      expect(leftOpen).toBe(0)
    }
    const { silentLink = 0, silentReplica = 0 } = numbers.attacks
    expect(silentLink + silentReplica).toBeGreaterThan(0)
  })
})

const inWords = ({ timeline, ...breach }: StormReport['breaches'][number]): string =>
  [JSON.stringify(breach), ...timeline].join('\n')
