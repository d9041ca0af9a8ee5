import { describe, expect, it } from 'vitest'
import { exitCodes } from './exit-codes.ts'
import { openOnce } from './open-once.ts'
import { Refusal } from './session-api.ts'
import { aFakeSite, anEntry, type FakeSite } from './testing/fake-site.ts'

const run = (site: FakeSite, names: string[] = [], order: object = {}) =>
  openOnce(site.deps, { names, waitMs: 30_000, ...order })
const refusal = (status: number, Err: string, Extra?: string) => new Refusal(status, { Err, Extra })

describe('one run', () => {
  it('waits until every entry that opens by itself is open, and leaves the session', async () => {
    const [ssh, list, click] = [
      anEntry({ Status: 2 }),
      anEntry({ Description: 'List', Status: 6 }),
      anEntry({ Description: 'Click', Status: 4, ClickToGrant: true }),
    ]
    const site = aFakeSite({ entries: [ssh, list, click] })
    site.at(3_000, () => Object.assign(ssh, { Status: 0 }))
    expect(await run(site)).toBe(exitCodes.done)
    expect(site.now()).toBeLessThan(4_000)
    expect(site.said).toEqual(['result open SSH,List'])
    expect([site.callsOf('signIn').length, site.callsOf('grant'), site.callsOf('signOut')]).toEqual([
      1,
      [],
      [],
    ])
  })

  it('clicks what is named and needs it, waits for that only, and clicks again when nothing came of it', async () => {
    const git = anEntry({ Description: 'Git', Status: 4, ClickToGrant: true })
    const site = aFakeSite({ entries: [anEntry({ Status: 2 }), git] })
    site.at(5_000, () => Object.assign(git, { Status: 4 }))
    site.at(12_000, () => Object.assign(git, { Status: 0 }))
    expect(await run(site, ['git'])).toBe(exitCodes.done)
    const clicks = site.callsOf('grant').map(({ at }) => at)
    expect(clicks).toHaveLength(2)
    expect(clicks[0]).toBe(0)
    expect(clicks[1]).toBeGreaterThanOrEqual(10_000)
    expect(site.said).toEqual(['result open Git'])
  })

  it('names what is not open in time', async () => {
    const site = aFakeSite({ entries: [anEntry(), anEntry({ Description: 'Git', Status: 3 })] })
    expect(await run(site)).toBe(exitCodes.notOpenInTime)
    expect(site.now()).toBe(30_000)
    expect(site.said.at(-1)).toMatch(/^remark not open in time: Git\. /)
  })

  it('looks once where it may not wait', async () => {
    const site = aFakeSite({ entries: [anEntry({ Status: 2 })] })
    expect(await run(site, [], { waitMs: 0 })).toBe(exitCodes.notOpenInTime)
    expect(site.callsOf('status')).toHaveLength(1)
  })

  it('is refused at once by a key that is of no use, with what to do', async () => {
    const site = aFakeSite()
    site.faults.signIn = refusal(401, 'err.invalidApiKey')
    expect(await run(site)).toBe(exitCodes.refused)
    expect([site.now(), site.callsOf('signIn').length]).toEqual([0, 1])
    expect(site.said[0]).toMatch(/Get a new one in the console/)
  })

  it('waits as long as the server wants after too many attempts', async () => {
    const site = aFakeSite()
    site.faults.signIn = refusal(429, 'err.tooManyRequests', '4')
    site.at(3_000, () => void (site.faults = {}))
    expect(await run(site)).toBe(exitCodes.done)
    expect(site.callsOf('signIn').map(({ at }) => at)).toEqual([0, 4_000])
  })

  it('tries a server that is away until the wait is over', async () => {
    const away = aFakeSite()
    away.faults.signIn = new Error('connect ECONNREFUSED')
    expect(await run(away)).toBe(exitCodes.unreachable)
    expect(away.said).toEqual([expect.stringContaining('can’t be reached'), 'result unreachable '])
    const late = aFakeSite()
    late.faults.signIn = new Error('connect ECONNREFUSED')
    late.at(10_000, () => void (late.faults = {}))
    expect(await run(late)).toBe(exitCodes.done)
  })

  it('says at once that an entry may not be opened from here', async () => {
    const site = aFakeSite({ entries: [anEntry({ Status: 4, DisableForUser: true })] })
    expect(await run(site)).toBe(exitCodes.restricted)
    expect(site.now()).toBe(0)
    expect(site.said.at(-1)).toContain('not from here (192.0.2.1): SSH')
  })

  it('refuses a name that no entry has, and says which there are', async () => {
    const site = aFakeSite()
    expect(await run(site, ['SSH', 'Mail'])).toBe(exitCodes.refused)
    expect(site.said.at(-1)).toBe('remark build has no entry "Mail"; it has: SSH')
    expect(site.sessions.size).toBe(0)
  })

  it('leaves no session behind where the licence is missing', async () => {
    const site = aFakeSite({ entries: [anEntry({ Status: 4 })] })
    site.licensed = false
    expect(await run(site)).toBe(exitCodes.refused)
    expect(site.said.at(-1)).toMatch(/no licence/)
    expect(site.sessions.size).toBe(0)
  })

  it('refuses where a click is refused for good, and not where the address has just changed', async () => {
    const entries = () => [anEntry({ Status: 4, ClickToGrant: true })]
    const lasting = aFakeSite({ entries: entries() })
    lasting.faults.grant = refusal(409, 'err.noListForAddress', '192.0.2.1')
    expect(await run(lasting, ['SSH'])).toBe(exitCodes.refused)
    expect(lasting.said.at(-1)).toBe('remark SSH: it has no list for addresses of this family (192.0.2.1)')
    const passing = aFakeSite({ entries: entries() })
    passing.faults.grant = refusal(409, 'err.addressChanged', '192.0.2.2')
    passing.at(400, () => void (passing.faults = {}))
    passing.at(2_000, () => void (passing.entries[0] = anEntry({ ClickToGrant: true })))
    expect(await run(passing, ['SSH'])).toBe(exitCodes.done)
    expect(passing.callsOf('grant').length).toBeGreaterThanOrEqual(2)
  })

  it('says so when nothing opens by itself', async () => {
    const site = aFakeSite({ entries: [anEntry({ Status: 4, ClickToGrant: true })] })
    expect(await run(site)).toBe(exitCodes.done)
    expect(site.said.at(-1)).toBe('remark signed in; nothing opens by itself. Name entries with --entry: SSH')
  })

  it('goes on from an earlier run’s session, and keeps its own token', async () => {
    const kept: string[] = []
    const site = aFakeSite()
    await run(site, [], { replaces: 'token-0', keep: (token: string) => kept.push(token) })
    expect(site.callsOf('signIn').map(({ call }) => call)).toEqual(['signIn token-0'])
    expect(kept).toEqual(['token-1'])
  })

  it('signs out again when it is interrupted', async () => {
    const site = aFakeSite({ entries: [anEntry({ Status: 2 })] })
    site.stopAt(2_000)
    expect(await run(site)).toBe(exitCodes.failed)
    expect(site.sessions.size).toBe(0)
  })
})
