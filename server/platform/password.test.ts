import { describe, expect, it } from 'vitest'
import { createPasswordHasher } from './password.ts'

/** What is not about the strength need not wait for it. */
const cheap = { memoryCost: 1024, timeCost: 1, parallelism: 1 }

describe('passwords', () => {
  it('are stored as argon2id with 64 MiB and three passes, and checked against it', async () => {
    const { hashPassword, verifyPassword } = createPasswordHasher()
    const hash = await hashPassword('correct horse')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/)
    expect(await verifyPassword(hash, 'correct horse')).toBe(true)
    expect(await verifyPassword(hash, 'correct house')).toBe(false)
  })

  it('are the same however a keyboard composes an accent', async () => {
    const { hashPassword, verifyPassword } = createPasswordHasher()
    expect(await verifyPassword(await hashPassword('caf\u00e9 au lait'), 'cafe\u0301 au lait')).toBe(true)
  })

  it('take as long to refuse for a name that does not exist', async () => {
    const { hashPassword, verifyPassword } = createPasswordHasher(1, { ...cheap, memoryCost: 8192 })
    const hash = await hashPassword('correct horse')
    expect(await verifyPassword(undefined, '')).toBe(false)
    // The fastest of several, in turns: what else the machine does only ever adds time.
    const fastest = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY }
    for (let round = 0; round < 10; round += 1) {
      fastest.known = Math.min(fastest.known, await millisecondsOf(() => verifyPassword(hash, 'wrong')))
      fastest.unknown = Math.min(
        fastest.unknown,
        await millisecondsOf(() => verifyPassword(undefined, 'wrong')),
      )
    }
    expect(fastest.unknown).toBeGreaterThan(fastest.known / 2)
    expect(fastest.unknown).toBeLessThan(fastest.known * 2)
  })

  it('are computed one per core; 200 wait, and the next is told to come back', async () => {
    const { verifyPassword } = createPasswordHasher(1, cheap)
    await verifyPassword(undefined, 'warm-up')
    const results = await Promise.allSettled(
      Array.from({ length: 203 }, () => verifyPassword(undefined, 'x')),
    )
    const refused = results.filter((result) => result.status === 'rejected').map((result) => result.reason)
    expect(refused).toHaveLength(2)
    expect(refused[0]).toMatchObject({ code: 'err.serviceUnavailable', status: 503, retryAfterSeconds: 2 })
    expect(await verifyPassword(undefined, 'later')).toBe(false)
  })
})

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  for (let round = 0; round < 5; round += 1) await work()
  return performance.now() - started
}
