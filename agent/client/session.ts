import { chooseEntries, needsClick } from './entries.ts'
import type { Report } from './report.ts'
import { Refusal, type SessionApi } from './session-api.ts'
import type { ClientStatus, StatusEntry } from './status.schema.ts'

/** What both ways of running are made of; time and chance come from outside, so that tests decide them. */
export type ClientDeps = {
  api: SessionApi
  report: Report
  /** Milliseconds; `wait` ends early when the signal does. */
  clock: { now: () => number; wait: (ms: number, signal: AbortSignal) => Promise<void> }
  /** 0 … 1. */
  random: () => number
  /** Whoever runs the client wants it to end. */
  stop: AbortSignal
}

/** A session as the client holds it. */
export type ClientSession = {
  token: string
  signedInAt: number
  /** When each entry was clicked last. */
  clickedAt: Map<string, number>
}

/** What a look at the server showed. */
export type Look = {
  status: ClientStatus
  wanted: StatusEntry[]
  /** Names that no entry of this user has. */
  missing: string[]
  /** Clicks that were refused, by entry. */
  refused: Map<string, Refusal>
}

/** A click that opened nothing is repeated so often. */
const clickAgainMs = 10_000

/** Refusals that a little patience overcomes. */
const passing: readonly string[] = ['err.tooManyRequests', 'err.addressChanged', 'err.changedMeanwhile']

/** Signs in, going on from an earlier session if there is one. */
export async function signIn(
  { api, clock }: Pick<ClientDeps, 'api' | 'clock'>,
  replaces?: string,
): Promise<ClientSession> {
  const { token } = await api.signIn(replaces)
  return { token, signedInAt: clock.now(), clickedAt: new Map() }
}

/**
 * Asks how everything stands, shows the server where this host is, and clicks the wanted entries that need it.
 * @throws Refusal, or Error when the server can't be reached.
 */
export async function look(
  deps: Pick<ClientDeps, 'api' | 'clock'>,
  session: ClientSession,
  names: readonly string[],
): Promise<Look> {
  const status = await deps.api.status(session.token)
  const refused = new Map<string, Refusal>()
  const { wanted } = chooseEntries(status, names)
  const due = wanted.filter((entry) => needsClick(entry) && !hasJustBeenClicked(deps, session, entry))
  for (const entry of due) await click(deps, session, entry, refused)
  const after = due.length === 0 ? status : await deps.api.status(session.token)
  return { status: after, refused, ...chooseEntries(after, names) }
}

/** Whether a refusal may be another one in a moment. */
export const isPassing = (fault: Refusal): boolean => passing.includes(fault.code)

/** How long the server wants to be left alone, in milliseconds. */
export const patienceOf = ({ code, extra }: Refusal): number =>
  code === 'err.tooManyRequests' ? Math.min(900, Math.max(1, Number(extra) || 1)) * 1000 : 1000

const hasJustBeenClicked = (
  { clock }: Pick<ClientDeps, 'clock'>,
  { clickedAt }: ClientSession,
  { ACLID }: StatusEntry,
): boolean => clock.now() - (clickedAt.get(ACLID) ?? -Infinity) < clickAgainMs

async function click(
  { api, clock }: Pick<ClientDeps, 'api' | 'clock'>,
  { token, clickedAt }: ClientSession,
  { ACLID }: StatusEntry,
  refused: Map<string, Refusal>,
): Promise<void> {
  clickedAt.set(ACLID, clock.now())
  try {
    await api.grant(token, ACLID)
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401) throw error
    refused.set(ACLID, error)
    // The address has just changed: the next look moves it, and then the click counts.
    if (isPassing(error)) clickedAt.delete(ACLID)
  }
}
