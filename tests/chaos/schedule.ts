import { setTimeout as wait } from 'node:timers/promises'
import { type Arena, attack, attackOnce, type VictimName } from './victims.ts'

/** Between two attacks, at most; and the calm in which everything has to be exact, every so often. */
const pauseMs = 1_600
const calm = { everyMs: 9_000, forMs: 4_000 }

/** What no storm is without, as the so manieth attack: when doors that know it stand open already. */
const sure: Readonly<Record<number, VictimName>> = {
  3: 'ordersMuddled',
  9: 'programReload',
  13: 'programKill',
}

/**
 * Attacks at moments drawn at random until the time is over and all that was begun has been put right again. In
 * between nobody attacks for a while, so that exactness is judged and not only recovery. The agent with the strict
 * knoc is silenced early, because that takes the longest.
 */
export async function attackAtRandom(
  arena: Omit<Arena, 'later' | 'isBusy'>,
  seconds: number,
): Promise<Partial<Record<VictimName, number>>> {
  const counts: Partial<Record<VictimName, number>> = {}
  const running = new Map<string, Promise<void>>()
  const faults: unknown[] = []
  const whole: Arena = {
    ...arena,
    isBusy: (name) => running.has(name),
    later: (name, work) => {
      const done = work()
        .catch((error: unknown) => void faults.push(error))
        .finally(() => running.delete(name))
      running.set(name, done)
    },
  }
  const endsAt = Date.now() + seconds * 1_000
  let calmAt = Date.now() + calm.everyMs
  const count = (name: VictimName | null) => {
    if (name !== null) counts[name] = (counts[name] ?? 0) + 1
  }
  const silence = arena.random.of(['silentLink', 'silentReplica'])
  for (let number = 0; Date.now() < endsAt; number += 1) {
    const name = number === 0 ? silence : sure[number]
    count(name === undefined ? await attackOnce(whole) : await attack(whole, name))
    if (faults[0] !== undefined) throw faults[0]
    await wait(arena.random.below(pauseMs))
    if (Date.now() < calmAt) continue
    arena.timeline.note('calm')
    await wait(calm.forMs)
    calmAt = Date.now() + calm.everyMs
  }
  await Promise.all(running.values())
  if (faults[0] !== undefined) throw faults[0]
  return counts
}
