import { backOffMs } from '#machines/agent-link.machine.ts'
import { adviceOn, licenceAdvice } from './advice.ts'
import { type EntryState, isOpen, needsSignIn, stateOf } from './entries.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import {
  type ClientDeps,
  type ClientSession,
  isPassing,
  type Look,
  look,
  patienceOf,
  signIn,
} from './session.ts'
import { Refusal } from './session-api.ts'

type PersistDeps = ClientDeps & {
  /** This host's own addresses; another text than before means that the network has changed. */
  readAddresses: () => string
}

/** As often the server sees where this host is, even when nothing happens. Specification README "What grants". */
const revalidateMs = 30_000
/** As often while something is on its way, at first. */
const lookAgainMs = 1_000
/** As often the host's addresses are compared. */
const addressCheckMs = 2_000
/** Between two sign-ins of which each was taken. */
const leastBetweenSignInsMs = 15_000
/** After one that was refused, or for an entry that only a sign-in opens again. */
const signInAgainMs = 60_000
/** How much earlier than the end the client signs in again: a tenth of the time, within these. */
const margin = { leastMs: 5_000, mostMs: 120_000 }
const signOutTries = 3

/** What is remembered from round to round. */
type Run = {
  session: ClientSession | undefined
  /** Token of the session so far: a new one goes on from it. */
  token: string | undefined
  /** When to sign in again, so that nothing closes at its end; not before `notBefore`. */
  renewAt: number
  notBefore: number
  /** Faults in a row. */
  attempt: number
  /** Since when something wanted isn't open. */
  restlessSince: number | undefined
  addresses: string
  said: {
    states: Map<string, EntryState>
    address: string
    remarks: string
    refusal: string
    isOffline: boolean
  }
}

/**
 * Keeps access open until it is told to stop: follows this host's addresses, signs in again before the end, and
 * outlasts a server that is away. At the stop it signs out, which closes every door.
 */
export async function persist(deps: PersistDeps, names: readonly string[]): Promise<ExitCode> {
  const run: Run = {
    session: undefined,
    token: undefined,
    renewAt: 0,
    notBefore: 0,
    attempt: 0,
    restlessSince: undefined,
    addresses: deps.readAddresses(),
    said: { states: new Map(), address: '', remarks: '', refusal: '', isOffline: false },
  }
  while (!deps.stop.aborted) {
    const waitMs = await step(deps, run, names).catch((fault: unknown) => meet(deps, run, fault))
    if (waitMs === 'refused') return exitCodes.refused
    await pause(deps, run, waitMs)
  }
  return leave(deps, run)
}

/** One round; how long there is nothing to do, in milliseconds. */
async function step(deps: PersistDeps, run: Run, names: readonly string[]): Promise<number> {
  const { clock, report } = deps
  if (run.session === undefined || clock.now() >= run.renewAt) {
    run.session = await signIn(deps, run.token)
    run.token = run.session.token
    report.event('signedIn')
  }
  const seen = await look(deps, run.session, names)
  if (run.said.isOffline) report.event('online')
  run.said.isOffline = false
  run.said.refusal = ''
  run.attempt = 0
  tell(deps, run, seen)
  const now = clock.now()
  run.renewAt = Math.max(run.notBefore, renewalOf(now, run.session, seen))
  return Math.max(0, Math.min(paceOf(now, run, seen), run.renewAt - now))
}

/** Quick while something is on its way, then ever slower. */
function paceOf(now: number, run: Run, { wanted }: Look): number {
  const isQuiet = wanted.every((entry) => isOpen(entry) || stateOf(entry) === 'restricted')
  run.restlessSince = isQuiet ? undefined : (run.restlessSince ?? now)
  if (run.restlessSince === undefined) return revalidateMs
  return Math.min(revalidateMs, Math.max(lookAgainMs, (now - run.restlessSince) / 10))
}

/** A little before the first end of what is wanted, by this host's clock. */
function renewalOf(now: number, { signedInAt }: ClientSession, { status, wanted }: Look): number {
  const offset = now - Date.parse(status.Now)
  const ends = wanted.filter(isOpen).flatMap(({ ExpiredAfter }) => ExpiredAfter ?? [])
  const end = Math.min(...[status.Ends, ...ends].map((text) => Date.parse(text) + offset))
  const early = Math.min(margin.mostMs, Math.max(margin.leastMs, (end - signedInAt) / 10))
  const again = wanted.some(needsSignIn) ? signedInAt + signInAgainMs : Infinity
  return Math.max(signedInAt + leastBetweenSignInsMs, Math.min(end - early, again))
}

/** Says what is otherwise than at the last look. */
function tell({ report }: PersistDeps, { said }: Run, { status, wanted, missing, refused }: Look): void {
  if (said.address !== '' && said.address !== status.CurrentAddress)
    report.event('address', { from: said.address, to: status.CurrentAddress })
  said.address = status.CurrentAddress
  for (const entry of wanted) {
    if (said.states.get(entry.ACLID) === stateOf(entry)) continue
    said.states.set(entry.ACLID, stateOf(entry))
    report.change(entry)
  }
  const remarks = [
    ...licenceAdvice(status),
    ...missing.map(
      (name) => `${status.UserName} has no entry ${JSON.stringify(name)}; it is opened once it has`,
    ),
    ...wanted.flatMap((entry) => {
      const fault = refused.get(entry.ACLID)
      return fault === undefined ? [] : `${entry.Description}: ${adviceOn(fault)}`
    }),
  ]
  if (remarks.join('\n') !== said.remarks) remarks.forEach(report.remark)
  said.remarks = remarks.join('\n')
}

/** What follows a fault: how long to wait before the next round, or that there is no use in one. */
function meet({ clock, random, report }: PersistDeps, run: Run, fault: unknown): number | 'refused' {
  const { said } = run
  run.attempt += 1
  const backOff = Math.max(500, backOffMs(run.attempt, random()))
  if (!(fault instanceof Refusal)) {
    if (!said.isOffline) {
      report.event('offline')
      report.remark(`${adviceOn(fault)}. It is tried again for as long as it takes`)
    }
    said.isOffline = true
    return backOff
  }
  if (isPassing(fault)) return Math.max(patienceOf(fault), backOff)
  if (fault.status === 401 && run.session !== undefined && sessionIsOver.includes(fault.code)) {
    report.event('sessionEnded')
    run.session = undefined
    return run.attempt === 1 ? 0 : backOff
  }
  if (said.refusal !== fault.code) {
    report.event('refused', { code: fault.code })
    report.remark(adviceOn(fault))
  }
  said.refusal = fault.code
  if (run.session === undefined) return 'refused'
  // What is open stays so until its end; by then somebody may have put right what is wrong.
  run.notBefore = clock.now() + signInAgainMs
  run.renewAt = run.notBefore
  return revalidateMs
}

const sessionIsOver: readonly string[] = ['err.invalidSession', 'err.sessionExpired']

/** Waits, but no longer than until the network changes or it is time to stop. */
async function pause(
  { clock, stop, readAddresses, report }: PersistDeps,
  run: Run,
  waitMs: number,
): Promise<void> {
  const until = clock.now() + waitMs
  for (let left = waitMs; left > 0 && !stop.aborted; left = until - clock.now()) {
    await clock.wait(Math.min(left, addressCheckMs), stop)
    const addresses = readAddresses()
    if (addresses === run.addresses) continue
    run.addresses = addresses
    run.attempt = 0
    report.event('networkChanged')
    return
  }
}

/** Signs out, which closes every door. */
async function leave({ api, report, clock }: PersistDeps, { session }: Run): Promise<ExitCode> {
  for (let tries = 1; session !== undefined; tries += 1) {
    try {
      await api.signOut(session.token)
      break
    } catch (fault) {
      // Refused means that there is no such session any more.
      if (fault instanceof Refusal) break
      if (tries === signOutTries) {
        report.remark(`${adviceOn(fault)}. Access ends by itself at the session’s end`)
        return exitCodes.unreachable
      }
      await clock.wait(1_000, new AbortController().signal)
    }
  }
  report.event('signedOut')
  return exitCodes.done
}
