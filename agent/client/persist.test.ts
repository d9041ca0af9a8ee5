import { describe, expect, it } from 'vitest'
import { exitCodes } from './exit-codes.ts'
import { persist } from './persist.ts'
import { Refusal } from './session-api.ts'
import { aFakeSite, anEntry, type FakeSite, serverTime } from './testing/fake-site.ts'

const minute = 60_000
const run = (site: FakeSite, names: string[] = []) => persist(site.deps, names)
const timesOf = (site: FakeSite, call: string) => site.callsOf(call).map(({ at }) => at)
const refusal = (status: number, Err: string, Extra?: string) => new Refusal(status, { Err, Extra })

describe('a client that stays', () => {
  it('re-validates every 30 s, and signs out when it is told to stop', async () => {
    const site = aFakeSite()
    site.stopAt(5 * minute + 1_000)
    expect(await run(site)).toBe(exitCodes.done)
    expect(timesOf(site, 'status')).toEqual(Array.from({ length: 11 }, (_, index) => index * 30_000))
    expect(site.callsOf('signOut').map(({ call }) => call)).toEqual(['signOut token-1'])
    expect(site.said).toEqual(['event signedIn', 'entry SSH 0', 'event signedOut'])
  })

  it('looks at once when the host’s addresses change, and says so', async () => {
    const site = aFakeSite()
    site.at(10_000, () => {
      site.hostAddresses = '198.51.100.9'
      site.address = '198.51.100.9'
    })
    site.stopAt(20_000)
    await run(site)
    const [, second = 0] = timesOf(site, 'status')
    expect(second).toBeGreaterThanOrEqual(10_000)
    expect(second).toBeLessThanOrEqual(12_000)
    expect(site.said).toContain('event networkChanged')
    expect(site.said).toContain('event address 192.0.2.1 198.51.100.9')
  })

  it('looks every second while something is on its way, then ever more slowly', async () => {
    const site = aFakeSite({ entries: [anEntry({ Status: 2 })] })
    site.stopAt(20 * minute)
    await run(site)
    const times = timesOf(site, 'status')
    expect(times.slice(0, 5)).toEqual([0, 1_000, 2_000, 3_000, 4_000])
    expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBe(30_000)
  })

  it('signs in again before the session’s end, going on from the one it has', async () => {
    const site = aFakeSite({ minutes: 10 })
    site.stopAt(25 * minute)
    await run(site)
    expect(site.callsOf('signIn').map(({ call }) => call)).toEqual([
      'signIn',
      'signIn token-1',
      'signIn token-2',
    ])
    const [, second = 0] = timesOf(site, 'signIn')
    expect(second).toBeGreaterThanOrEqual(8.5 * minute)
    expect(second).toBeLessThan(10 * minute)
  })

  it('signs in again before the first end of what it keeps open', async () => {
    const entry = anEntry({ ExpiredAfter: serverTime(5 * minute) })
    const site = aFakeSite({ entries: [entry, anEntry({ Description: 'Long' })] })
    site.at(4.9 * minute, () => Object.assign(entry, { ExpiredAfter: serverTime(9.9 * minute) }))
    site.stopAt(7 * minute)
    await run(site)
    const [, second = 0] = timesOf(site, 'signIn')
    expect(second).toBeGreaterThanOrEqual(4.4 * minute)
    expect(second).toBeLessThan(5 * minute)
  })

  it('doesn’t sign in over and over for an end that stays', async () => {
    const site = aFakeSite({ entries: [anEntry({ ExpiredAfter: serverTime(minute) })] })
    site.stopAt(minute)
    await run(site)
    expect(site.callsOf('signIn').length).toBeLessThanOrEqual(5)
  })

  it('signs in again after a 401, and keeps what it may open', async () => {
    const site = aFakeSite()
    site.at(45_000, () => site.sessions.clear())
    site.stopAt(2 * minute)
    expect(await run(site)).toBe(exitCodes.done)
    expect(timesOf(site, 'signIn')).toEqual([0, 60_000])
    expect(site.said).toContain('event sessionEnded')
  })

  it('clicks what is named, and again when it has ended', async () => {
    const git = anEntry({ Description: 'Git', Status: 4, ClickToGrant: true })
    const site = aFakeSite({ entries: [git] })
    site.at(500, () => Object.assign(git, { Status: 0 }))
    site.at(10 * minute, () => Object.assign(git, { Status: 9 }))
    site.at(10.6 * minute, () => Object.assign(git, { Status: 0 }))
    site.stopAt(12 * minute)
    await run(site, ['Git'])
    expect(site.callsOf('grant')).toHaveLength(2)
    expect(site.said.filter((line) => line.startsWith('entry'))).toEqual([
      'entry Git 2',
      'entry Git 0',
      'entry Git 2',
      'entry Git 0',
    ])
  })

  it('signs in again for what only signing in opens again, once a minute at most', async () => {
    const entry = anEntry()
    const site = aFakeSite({ entries: [entry] })
    site.at(5 * minute, () => Object.assign(entry, { Status: 9 }))
    site.stopAt(10 * minute)
    await run(site)
    const times = timesOf(site, 'signIn')
    expect(times.length).toBeGreaterThan(3)
    expect(
      Math.min(...times.slice(2).map((at, index) => at - (times[index + 1] ?? 0))),
    ).toBeGreaterThanOrEqual(minute)
  })

  it('outlasts a server that is away, with growing waits, and says so once', async () => {
    const site = aFakeSite()
    site.at(
      minute,
      () => void (site.faults = { status: new Error('ETIMEDOUT'), signIn: new Error('ETIMEDOUT') }),
    )
    site.at(60 * minute, () => void (site.faults = {}))
    site.stopAt(62 * minute)
    expect(await run(site)).toBe(exitCodes.done)
    const waits = timesOf(site, 'status')
      .filter((at) => at >= minute && at < 60 * minute)
      .map((at, index, all) => at - (all[index - 1] ?? at))
      .slice(1)
    expect(Math.max(...waits)).toBeLessThanOrEqual(15_000)
    expect(waits[0]).toBeLessThan(waits.at(-1) ?? 0)
    expect(site.said.filter((line) => /event (off|on)line/.test(line))).toEqual([
      'event offline',
      'event online',
    ])
    expect(site.callsOf('signIn')).toHaveLength(1)
  })

  it('waits for a server that is away when it starts', async () => {
    const site = aFakeSite()
    site.faults.signIn = new Error('ECONNREFUSED')
    site.at(minute, () => void (site.faults = {}))
    site.stopAt(2 * minute)
    expect(await run(site)).toBe(exitCodes.done)
    expect(site.said).toContain('entry SSH 0')
  })

  it('ends where it is refused and has no session', async () => {
    const site = aFakeSite()
    site.faults.signIn = refusal(403, 'err.addressNotAllowed', '192.0.2.1')
    expect(await run(site)).toBe(exitCodes.refused)
    expect(site.said).toEqual([
      'event refused err.addressNotAllowed',
      expect.stringContaining('allowed addresses'),
    ])
  })

  it('keeps what is open until its end when the key is withdrawn, then ends', async () => {
    const site = aFakeSite({ minutes: 10 })
    site.at(5 * minute, () => void (site.faults.signIn = refusal(401, 'err.invalidApiKey')))
    expect(await run(site)).toBe(exitCodes.refused)
    expect(site.now()).toBeGreaterThanOrEqual(10 * minute)
    expect(site.now()).toBeLessThan(11 * minute)
    expect(site.callsOf('signIn').length).toBeLessThan(5)
    expect(site.said.filter((line) => line.startsWith('event refused')).length).toBeLessThanOrEqual(2)
  })

  it('says once from where its key may not be used, and goes on when it is back', async () => {
    const site = aFakeSite()
    site.at(minute, () => void (site.faults.status = refusal(403, 'err.addressNotAllowed', '192.0.2.77')))
    site.at(10 * minute, () => void (site.faults = {}))
    site.stopAt(12 * minute)
    expect(await run(site)).toBe(exitCodes.done)
    expect(site.said.filter((line) => line.startsWith('event refused'))).toHaveLength(1)
  })

  it('says so when it can’t sign out', async () => {
    const site = aFakeSite()
    site.faults.signOut = new Error('ECONNREFUSED')
    site.stopAt(minute)
    expect(await run(site)).toBe(exitCodes.unreachable)
    expect(site.callsOf('signOut')).toHaveLength(3)
    expect(site.said.at(-1)).toContain('Access ends by itself')
  })
})
