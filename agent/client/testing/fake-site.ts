import type { Report } from '../report.ts'
import type { ClientDeps } from '../session.ts'
import { Refusal, type SessionApi } from '../session-api.ts'
import type { ClientStatus, StatusEntry } from '../status.schema.ts'

/** When the client's own clock is at 0, the server's is here: nobody may rely on the two being alike. */
const serverEpoch = Date.parse('2030-01-01T00:00:00Z')

/** A site of tests: a server whose answers a test decides, and a clock that moves only when somebody waits. */
export type FakeSite = ReturnType<typeof aFakeSite>

/** An instant of the server, so many milliseconds after the client's start. */
export const serverTime = (ms: number): string => new Date(serverEpoch + ms).toISOString()

/** An entry that opens by itself and is open. */
export const anEntry = (fields: Partial<StatusEntry> = {}): StatusEntry => ({
  ACLID: `id of ${fields.Description ?? 'SSH'}`,
  Description: 'SSH',
  URL: '',
  Status: 0,
  ExpiredAfter: null,
  ClickToGrant: false,
  DisableForUser: false,
  VerifiedAt: null,
  ...fields,
})

/** `entries` is read anew at each look; `happenings` are what comes to pass at an instant. */
export function aFakeSite({
  entries = [anEntry()],
  minutes = 480,
}: {
  entries?: StatusEntry[]
  minutes?: number
} = {}) {
  let now = 0
  let count = 0
  const stop = new AbortController()
  const site = {
    entries,
    licensed: true,
    address: '192.0.2.1',
    hostAddresses: '192.0.2.1',
    /** Thrown by the next calls of a kind while it is set. */
    faults: {} as Partial<Record<keyof SessionApi, Error>>,
    /** Ends of the sessions that live, by token. */
    sessions: new Map<string, number>(),
    calls: [] as { at: number; call: string }[],
    said: [] as string[],
    happenings: [] as { at: number; act: () => void }[],
    at: (ms: number, act: () => void) => void site.happenings.push({ at: ms, act }),
    stopAt: (ms: number) => site.at(ms, () => stop.abort()),
    callsOf: (name: string) => site.calls.filter(({ call }) => call.startsWith(name)),
  }

  function note(name: keyof SessionApi, detail = ''): void {
    site.calls.push({ at: now, call: `${name} ${detail}`.trim() })
    const fault = site.faults[name]
    if (fault !== undefined) throw fault
  }

  function check(token: string): void {
    const end = site.sessions.get(token)
    if (end === undefined || end <= now) throw new Refusal(401, { Err: 'err.invalidSession' })
  }

  const api: SessionApi = {
    async signIn(replaces = '') {
      note('signIn', replaces)
      site.sessions.delete(replaces)
      const token = `token-${(count += 1)}`
      site.sessions.set(token, now + minutes * 60_000)
      return { token }
    },
    async status(token) {
      note('status')
      check(token)
      const status: ClientStatus = {
        UserName: 'build',
        CurrentAddress: site.address,
        Ends: serverTime(site.sessions.get(token) ?? 0),
        Now: serverTime(now),
        Licensed: site.licensed,
        UserLicensed: true,
        ACLs: structuredClone(site.entries),
      }
      return status
    },
    async grant(token, aclId) {
      note('grant', aclId)
      check(token)
      for (const entry of site.entries) if (entry.ACLID === aclId) entry.Status = 2
    },
    async signOut(token) {
      note('signOut', token)
      check(token)
      site.sessions.delete(token)
    },
  }

  const say = (line: string) => void site.said.push(line)
  const report: Report = {
    result: (outcome, shown) =>
      say(`result ${outcome} ${shown.map(({ Description }) => Description).join(',')}`),
    change: ({ Description, Status }) => say(`entry ${Description} ${Status}`),
    event: (name, facts = {}) => say(`event ${[name, ...Object.values(facts)].join(' ')}`),
    remark: (text) => say(`remark ${text}`),
  }

  const deps: ClientDeps & { readAddresses: () => string } = {
    api,
    report,
    clock: {
      now: () => now,
      async wait(ms, signal) {
        if (signal.aborted) return
        if (!(ms > 0)) throw new Error(`waits for ${ms} ms`)
        const until = now + ms
        for (;;) {
          const next = site.happenings.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0]
          if (next === undefined) break
          site.happenings.splice(site.happenings.indexOf(next), 1)
          now = Math.max(now, next.at)
          next.act()
          if (signal.aborted) return
        }
        now = until
        if (now > 30 * 86_400_000 || site.calls.length > 20_000)
          throw new Error('the client goes on for ever')
      },
    },
    random: () => 0.5,
    readAddresses: () => site.hostAddresses,
    stop: stop.signal,
  }
  return Object.assign(site, { deps, stop: () => stop.abort(), now: () => now })
}
