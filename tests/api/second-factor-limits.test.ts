import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { rightPassword } from '#tests/support/people-builders.ts'
import { bothRealms, codeOf, secondFactorHands, wrongCode } from '#tests/support/second-factor.ts'

let api: PeopleApi
let replica: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
  replica = await startPeopleApi({}, api.database)
})
afterAll(() => api.stop())

const {
  realms,
  half,
  enrolled,
  verify,
  secretOf,
  failCodes,
  holdWaits,
  releaseWaits,
  fillAddress,
  counterOf,
  waitOf,
  deviceOf,
} = secondFactorHands(() => api)

describe.each(bothRealms)('many wrong codes in the %s realm', (realm) => {
  it('make everybody wait after the tenth, longer each time, from wherever and at every replica', async () => {
    const { person, seed } = await enrolled(realm)
    await failCodes(realm, person, seed, 10)
    await holdWaits()
    for (const browser of [
      await half(realm, person, api, '203.0.113.60'),
      await half(realm, person, replica, '2001:db8::60'),
    ]) {
      const { status, body, headers } = await verify(realm, browser, codeOf(seed))
      expect([status, body.Err]).toEqual([429, 'err.tooManyRequests'])
      expect(headers.get('Retry-After')).toBe(body.Extra)
      expect(Number(body.Extra)).toBeGreaterThan(0)
    }
    const waits: number[] = []
    for (const failures of [10, 11, 12, 40]) {
      await releaseWaits()
      await api.db
        .updateTable('failureCounters')
        .set({ failures })
        .where('bucket', '=', `code ${realm} ${person.id}`)
        .execute()
      await failCodes(realm, person, seed, 1)
      waits.push(await waitOf(realm, person))
    }
    expect(waits).toEqual([4, 8, 16, 3600])
    await releaseWaits()
    expect((await verify(realm, await half(realm, person), codeOf(seed))).status).toBe(200)
    expect(await counterOf(realm, person)).toBeUndefined()
  })

  it('are remembered for a day', async () => {
    const { person, seed } = await enrolled(realm)
    await failCodes(realm, person, seed, 10)
    const age = async (seconds: number) => {
      await releaseWaits()
      await api.db
        .updateTable('failureCounters')
        .set({ windowStartedAt: new Date(Date.now() - seconds * 1000) })
        .where('bucket', '=', `code ${realm} ${person.id}`)
        .execute()
      await failCodes(realm, person, seed, 1)
    }
    await age(86_000)
    expect(await counterOf(realm, person)).toEqual({ failures: 11 })
    await age(86_500)
    expect(await counterOf(realm, person)).toEqual({ failures: 1 })
  })

  it('can’t be tried faster by trying at once', async () => {
    const { person, seed } = await enrolled(realm)
    const browsers = [await half(realm, person), await half(realm, person, replica)]
    await failCodes(realm, person, seed, 1)
    // The next wait is two minutes: no machine is so slow that a second attempt comes after it.
    await api.db
      .updateTable('failureCounters')
      .set({ failures: 15 })
      .where('bucket', '=', `code ${realm} ${person.id}`)
      .execute()
    const wrong = wrongCode(seed)
    const answers = await Promise.all(
      [...browsers, ...browsers, ...browsers].map((browser) => verify(realm, browser, wrong)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([422, 429, 429, 429, 429, 429])
  })

  it('of a stranger who has the password don’t keep the owner out on a device he is known on', async () => {
    const { person, seed } = await enrolled(realm)
    const earlier = await half(realm, person)
    expect((await verify(realm, earlier, codeOf(seed, -1))).status).toBe(200)
    const peer = '203.0.113.61'
    await failCodes(realm, person, seed, 10, peer)
    await fillAddress(realm, peer)
    await holdWaits()

    const owner = deviceOf(realm, earlier, peer)
    await owner.post(realms[realm].login, { UserName: person.userName, Password: rightPassword })
    const stranger = api.browser(peer)
    stranger.jar.set(realms[realm].cookie, owner.jar.get(realms[realm].cookie) ?? '')
    expect((await verify(realm, stranger, codeOf(seed))).status).toBe(429)
    expect((await verify(realm, owner, codeOf(seed))).status).toBe(200)
  })

  it('on a known device make that device wait, and nobody else', async () => {
    const { person, seed } = await enrolled(realm)
    const earlier = await half(realm, person)
    expect((await verify(realm, earlier, codeOf(seed, -1))).status).toBe(200)
    const device = deviceOf(realm, earlier, '203.0.113.62')
    await device.post(realms[realm].login, { UserName: person.userName, Password: rightPassword })
    for (let round = 0; round < 10; round += 1)
      expect((await verify(realm, device, wrongCode(seed))).status).toBe(422)
    await holdWaits()
    expect((await verify(realm, device, codeOf(seed))).status).toBe(429)
    expect((await verify(realm, await half(realm, person), codeOf(seed))).status).toBe(200)
  })

  it('count for their address, too', async () => {
    const { person, seed } = await enrolled(realm)
    await failCodes(realm, person, seed, 2, '203.0.113.63')
    const bucket = `address ${realm} 203.0.113.63`
    const { failures } = await api.db
      .selectFrom('failureCounters')
      .select('failures')
      .where('bucket', '=', bucket)
      .executeTakeFirstOrThrow()
    expect(failures).toBe(2)
  })

  it('count while a generator is set up', async () => {
    const person = await realms[realm].make()
    const seed = await secretOf(realm, await half(realm, person))
    await failCodes(realm, person, seed, 10)
    await holdWaits()
    expect((await verify(realm, await half(realm, person), codeOf(seed))).status).toBe(429)
  })
})
