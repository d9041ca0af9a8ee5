import { describe, expect, it } from 'vitest'
import { createDatabaseClock } from './database-clock.ts'

/** A replica whose wall clock is an hour wrong, and a database whose true time a test tells late. */
function aClock() {
  let monotonic = 5_000
  const database = () => 1_000_000 + monotonic
  const clock = createDatabaseClock({
    wall: () => database() + 3_600_000,
    monotonic: () => monotonic,
  })
  return {
    /** How far it is ahead of the database's own. */
    ahead: () => clock.now() - database(),
    pass: (ms: number) => {
      monotonic += ms
    },
    /** A look whose answer was written `lateMs` ago. */
    look: (lateMs: number, { setBackMs = 0 } = {}) => clock.saw(database() - lateMs - setBackMs),
  }
}

describe('the database’s clock', () => {
  it('is taken from its answers, not from this host', () => {
    const { ahead, look } = aClock()
    expect(ahead()).toBe(3_600_000)
    look(1)
    expect(ahead()).toBe(-1)
  })

  it('is never ahead, and hardly behind, however long an answer took', () => {
    const { ahead, look, pass } = aClock()
    look(2)
    for (const lateMs of [1_700, 40, 3_000, 900]) {
      pass(1_000)
      look(lateMs)
      expect(ahead()).toBe(-2)
    }
    pass(1_000)
    look(1)
    expect(ahead()).toBe(-1)
  })

  it('believes a clock that was set back after a minute, and one that was set forward at once', () => {
    const { ahead, look, pass } = aClock()
    look(0)
    for (let second = 0; second < 59; second += 1) {
      pass(1_000)
      look(0, { setBackMs: 10_000 })
    }
    expect(ahead()).toBe(0)
    pass(1_500)
    look(0, { setBackMs: 10_000 })
    expect(ahead()).toBe(-10_000)
    look(0)
    expect(ahead()).toBe(0)
  })
})
