import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startDuties } from './duties.ts'
import { createLog } from './log.ts'

const log = createLog({ logLevel: 'silent', replica: 'test' })

it('runs a duty again at once while there is more to do, and goes on after a failure', async () => {
  const runs: number[] = []
  const stop = startDuties(
    [
      {
        name: 'test',
        everyMs: 5,
        run: async () => {
          runs.push(performance.now())
          if (runs.length === 2) throw new Error('once')
          return runs.length < 2
        },
      },
    ],
    log,
  )
  while (runs.length < 4) await wait(5)
  await stop()
  const after = runs.length
  await wait(30)
  expect(runs.length).toBe(after)
})

it('stops at once although its duty was running when it was told to', async () => {
  const [begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const run = () => {
    begun.resolve()
    return finished.promise
  }
  const stop = startDuties([{ name: 'slow', everyMs: 3_600_000, run }], log)
  await begun.promise
  const stopped = stop()
  finished.resolve()
  expect(await Promise.race([stopped.then(() => 'stopped'), wait(1_000, 'hangs')])).toBe('stopped')
})

it('never runs a duty twice at the same time', async () => {
  let atOnce = 0
  let most = 0
  const stop = startDuties(
    [
      {
        name: 'test',
        everyMs: 1,
        run: async () => {
          atOnce += 1
          most = Math.max(most, atOnce)
          await wait(10)
          atOnce -= 1
        },
      },
    ],
    log,
  )
  await wait(60)
  await stop()
  expect(most).toBe(1)
})
