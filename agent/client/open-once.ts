import { adviceOn, licenceAdvice } from './advice.ts'
import { isOpen, stateOf } from './entries.ts'
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
import type { StatusEntry } from './status.schema.ts'

/** What one run is to do. */
export type OpenOrder = {
  /** Entries to wait for, clicked if they need it; none = those that open by themselves. */
  names: readonly string[]
  waitMs: number
  /** Token of an earlier run: its session goes on in this one. */
  replaces?: string | undefined
  /** Told the token as soon as there is one. */
  keep?: ((token: string) => void) | undefined
}

/** Between two looks while something is on its way. */
const lookAgainMs = 500

/**
 * Signs in once and waits until what is wanted is open. The session stays, so that what is late still opens; only
 * where the server refuses altogether nothing stays behind.
 */
export async function openOnce(deps: ClientDeps, order: OpenOrder): Promise<ExitCode> {
  const { clock, report, stop } = deps
  const deadline = clock.now() + order.waitMs
  const state: Progress = { session: undefined, last: undefined, fault: undefined }
  for (;;) {
    const pause = await step(deps, order, state)
    const verdict = state.fault === undefined ? judge(state.last) : undefined
    if (verdict !== undefined) return conclude(deps, state, verdict)
    if (stop.aborted || pause === 'useless') break
    const left = deadline - clock.now()
    if (left <= 0) break
    await clock.wait(Math.min(pause, left), stop)
  }
  if (stop.aborted) {
    if (state.session !== undefined) await deps.api.signOut(state.session.token).catch(() => undefined)
    report.remark('interrupted; signed out again')
    return exitCodes.failed
  }
  return conclude(deps, state, state.fault === undefined ? 'notOpenInTime' : faultVerdict(state.fault))
}

type Progress = { session: ClientSession | undefined; last: Look | undefined; fault: unknown }

type Verdict = 'open' | 'refused' | 'notOpenInTime' | 'unreachable' | 'restricted'

/** Signs in if need be and looks; milliseconds until the next step is worth while, if any is. */
async function step(deps: ClientDeps, order: OpenOrder, state: Progress): Promise<number | 'useless'> {
  try {
    if (state.session === undefined) {
      state.session = await signIn(deps, order.replaces)
      order.keep?.(state.session.token)
    }
    state.last = await look(deps, state.session, order.names)
    state.fault = undefined
    return lookAgainMs
  } catch (fault) {
    if (state.fault === undefined) deps.report.remark(adviceOn(fault))
    state.fault = fault
    if (!(fault instanceof Refusal)) return 2 * lookAgainMs
    return isPassing(fault) ? patienceOf(fault) : 'useless'
  }
}

/** What a look means for the run; undefined = wait on. */
function judge(last: Look | undefined): Verdict | undefined {
  if (last === undefined) return undefined
  const { status, wanted, missing, refused } = last
  if (missing.length > 0 || !status.Licensed || !status.UserLicensed) return 'refused'
  const closed = wanted.filter((entry) => !isOpen(entry))
  if (closed.length === 0) return 'open'
  const lasting = closed
    .map((entry) => refused.get(entry.ACLID))
    .filter((fault) => fault && !isPassing(fault))
  if (closed.every((entry) => stateOf(entry) === 'restricted')) return 'restricted'
  return lasting.some((fault) => fault?.code !== 'err.accessRestricted') ? 'refused' : undefined
}

const faultVerdict = (fault: unknown): Verdict => (fault instanceof Refusal ? 'refused' : 'unreachable')

/** Says how the run ended and answers its exit code. */
async function conclude(
  { api, report }: ClientDeps,
  { session, last, fault }: Progress,
  verdict: Verdict,
): Promise<ExitCode> {
  const entries = fault === undefined ? (last?.wanted ?? []) : []
  report.result(verdict, entries, last?.status.Ends)
  if (fault === undefined && last !== undefined)
    for (const text of remarksOn(verdict, last)) report.remark(text)
  if (verdict === 'refused' && session !== undefined) await api.signOut(session.token).catch(() => undefined)
  return exitCodes[verdict === 'open' ? 'done' : verdict]
}

function remarksOn(verdict: Verdict, { status, wanted, missing, refused }: Look): string[] {
  if (verdict === 'open') return wanted.length > 0 ? [] : [emptyRemark(status.ACLs)]
  const unlicensed = licenceAdvice(status)
  if (unlicensed.length > 0) return unlicensed
  if (missing.length > 0)
    return missing.map(
      (name) => `${status.UserName} has no entry ${JSON.stringify(name)}; it has: ${namesOf(status.ACLs)}`,
    )
  const clicks = wanted.flatMap((entry) => {
    const fault = refused.get(entry.ACLID)
    return fault === undefined ? [] : [`${entry.Description}: ${adviceOn(fault)}`]
  })
  const closed = wanted.filter((entry) => !isOpen(entry))
  const text =
    verdict === 'restricted'
      ? `not from here (${status.CurrentAddress}): ${namesOf(closed)}. Its restriction is in the console (ACLs)`
      : `not open in time: ${namesOf(closed)}. Wait longer with --wait, or look at the agent in the console`
  return verdict === 'refused' ? clicks : [...clicks, text]
}

function emptyRemark(entries: readonly StatusEntry[]): string {
  return entries.length === 0
    ? 'signed in; this user has no entry'
    : `signed in; nothing opens by itself. Name entries with --entry: ${namesOf(entries)}`
}

const namesOf = (entries: readonly StatusEntry[]): string =>
  entries.length === 0 ? 'none' : entries.map(({ Description }) => Description).join(', ')
