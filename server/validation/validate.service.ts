import { setTimeout as wait } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { lookAtAgent } from './ask-agent.ts'
import { byWeight, type Difference, type DifferenceKind, differ, isUnseen, sameness } from './differences.ts'
import { hasLivingReplica, listValidatedAgents, nameKnocs } from './lists.query.ts'
import { lookAtOrders } from './look-at-orders.ts'

/** How a validation is made; every member has a default. */
export type ValidationOptions = {
  /** How long a difference may last before it counts, in seconds. */
  settleSeconds?: number
  /** How long one agent may take for its answer, in seconds. */
  timeoutSeconds?: number
  /** Entries that Knoc never ordered don't count. */
  ignoreForeign?: boolean
  /** Lists that nobody can look into don't count. */
  acceptReported?: boolean
  /** Least time between two looks, in milliseconds. */
  pauseMs?: number
  /** Differences that are kept of one look. */
  limit?: number
  /** Told after each look. */
  onLook?: (look: { number: number; agents: number; lists: number; entries: number; found: number }) => void
}

/** What a validation found. */
export type ValidationReport = {
  /** The worst first; those that don't count by the options included. */
  differences: Difference[]
  /** Agents that were asked or should have been; lists and entries that were seen in the widest look. */
  agents: number
  lists: number
  entries: number
  looks: number
  /** There may be more differences than are told. */
  isCut: boolean
}

const agentsAtOnce = 8

/**
 * Compares desired with actual, on every agent, and answers what differs and counts; nothing is changed.
 *
 * A busy system is never found wrong: a difference has to be the same in two looks, with no newer order for its
 * entry in between, and has to outlast `settleSeconds`.
 *
 * @throws Error of the database when it can't be read.
 */
export async function validate(db: Kysely<DB>, options: ValidationOptions = {}): Promise<Difference[]> {
  const { differences } = await runValidation(db, options)
  return differences.filter(({ kind }) => counts(kind, options))
}

/** Whether a kind of difference counts under these options. */
export const counts = (
  kind: DifferenceKind,
  { ignoreForeign = false, acceptReported = false }: ValidationOptions,
): boolean => !(ignoreForeign && kind === 'foreign') && !(acceptReported && kind === 'unlistable')

/** As `validate`, with everything the command prints. */
export async function runValidation(
  db: Kysely<DB>,
  options: ValidationOptions = {},
): Promise<ValidationReport> {
  const { settleSeconds = 5, timeoutSeconds = 10, pauseMs = 500, limit = 10_000, onLook } = options
  const settledAt = performance.now() + settleSeconds * 1000
  const seen = { agents: 0, lists: 0, entries: 0 }
  let previous: Look | undefined
  /** What becomes visible in the last look gets one more. */
  let lookMore = 1
  for (let number = 1; ; number += 1) {
    const startedAt = performance.now()
    const look = await lookOnce(db, { timeoutSeconds, limit, only: previous })
    for (const key of ['agents', 'lists', 'entries'] as const) seen[key] = Math.max(seen[key], look[key])
    onLook?.({ number, ...seen, found: look.differences.length })
    const standing = previous === undefined ? look.differences : whatStays(previous, look)
    const isNew = previous?.differences.some(isUnseen) === true && standing.length < look.differences.length
    const isOver = number > 1 && performance.now() >= settledAt && !(isNew && (lookMore -= 1) >= 0)
    const isClean = look.differences.length === 0 || (number > 1 && standing.length === 0 && !isNew)
    if (isClean || isOver) return { ...(await tell(db, standing, limit)), ...seen, looks: number }
    previous = look
    await wait(Math.max(pauseMs, performance.now() - startedAt))
  }
}

type Look = {
  differences: Difference[]
  agents: number
  lists: number
  entries: number
  agentIds: Set<string>
}

/** One look at everything, or at the agents on which the look before found something or saw nothing. */
async function lookOnce(
  db: Kysely<DB>,
  how: { timeoutSeconds: number; limit: number; only: Look | undefined },
): Promise<Look> {
  const look: Look = { differences: [], agents: 0, lists: 0, entries: 0, agentIds: new Set() }
  if (!(await hasLivingReplica(db)))
    look.differences.push(differ('noServer', { detail: 'no server was seen in the last 6 s' }))
  const agents = (await listValidatedAgents(db)).filter(({ id }) => how.only?.agentIds.has(id) ?? true)
  look.agents = agents.length
  await eachOf(agents, agentsAtOnce, async (agent) => {
    const { differences, lists, entries } = await lookAtAgent(db, agent, how)
    look.lists += lists
    look.entries += entries
    if (differences.length > 0 || !agent.linked) look.agentIds.add(agent.id)
    look.differences.push(...differences)
  })
  // After the agents: what they were still carrying out when they were asked, they have answered by now.
  look.differences.push(...withoutKnown(look.differences, await lookAtOrders(db, how.limit)))
  return look
}

/** An order without an answer is told once: by what was seen of it, if anything was. */
function withoutKnown(known: readonly Difference[], more: readonly Difference[]): Difference[] {
  const places = new Set(known.map(placeOf))
  return more.filter((difference) => difference.kind !== 'unsettled' || !places.has(placeOf(difference)))
}

const placeOf = ({ agent, list, address }: Difference): string => `${agent}|${list}|${address}`

/** What both looks found, with no newer order in between. */
function whatStays(before: Look, after: Look): Difference[] {
  const known = new Set(before.differences.map(sameness))
  return after.differences.filter((difference) => known.has(sameness(difference)))
}

/** The worst first, with the names of the knocs that use each list. */
async function tell(
  db: Kysely<DB>,
  found: readonly Difference[],
  limit: number,
): Promise<Pick<ValidationReport, 'differences' | 'isCut'>> {
  const kept = found.toSorted(byWeight).slice(0, limit)
  const knocs = await nameKnocs(db, [...new Set(kept.flatMap(({ targetId }) => targetId ?? []))])
  return {
    differences: kept.map((difference) => ({
      ...difference,
      knocs: difference.knocs ?? knocs.get(difference.targetId ?? '') ?? null,
    })),
    isCut: found.length >= limit,
  }
}

/** Runs `act` for each item, so many at once. */
async function eachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: Math.min(atOnce, items.length) }, async () => {
      for (const item of rest) await act(item)
    }),
  )
}
