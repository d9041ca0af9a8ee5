import { setTimeout as wait } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { compareList } from './compare.query.ts'
import { type Difference, differ } from './differences.ts'
import { type AnsweredList, listAnswers, type ValidatedAgent } from './lists.query.ts'
import { listEntriesAtStake, type OrderedEntry } from './orders.query.ts'
import { dropRequest, type RequestState, readRequest, requestListings } from './validation.store.ts'
import { listedWords, sinceText } from './words.ts'

/** What one look at an agent found, and how much it saw. */
export type AgentLook = { differences: Difference[]; lists: number; entries: number }

const pollMs = 50

/** Holds what stands on all lists of an agent against what was ordered; says so where that can't be done. */
export async function lookAtAgent(
  db: Kysely<DB>,
  agent: ValidatedAgent,
  { timeoutSeconds, limit }: { timeoutSeconds: number; limit: number },
): Promise<AgentLook> {
  if (!agent.linked) return blind(await unseen(db, agent, 'agentAway', awayWords(agent), limit))
  if (agent.targetIds.length === 0) return blind([])
  const startedAt = performance.now()
  const id = await requestAfterOthers(db, agent, timeoutSeconds)
  if (id === undefined) {
    const words = 'another `knoc validate` is asking this agent'
    return blind(await unseen(db, agent, 'noAnswer', words, limit))
  }
  try {
    const state = await untilAnswered(db, id, startedAt + timeoutSeconds * 1000 + graceMs)
    if (state === 'tooOld')
      return blind(await unseen(db, agent, 'agentTooOld', `version ${agent.version ?? 'unknown'}`, limit))
    return await compare(db, agent, { id, state, timeoutSeconds, limit })
  } finally {
    await dropRequest(db, id)
  }
}

const blind = (differences: Difference[]): AgentLook => ({ differences, lists: 0, entries: 0 })

/** The database has the last word on the time; this only ends the waiting should it never say it. */
const graceMs = 2_000

/** One validation at a time: a second one of the same agent waits for the first. */
async function requestAfterOthers(
  db: Kysely<DB>,
  { id: agentId, targetIds }: ValidatedAgent,
  seconds: number,
): Promise<string | undefined> {
  const until = performance.now() + seconds * 1000
  for (;;) {
    const id = await requestListings(db, { agentId, targetIds, seconds })
    if (id !== undefined || performance.now() > until) return id
    await wait(pollMs)
  }
}

async function untilAnswered(db: Kysely<DB>, id: string, until: number): Promise<RequestState> {
  for (;;) {
    const state = await readRequest(db, id)
    if (state !== 'waiting' || performance.now() > until) return state
    await wait(pollMs)
  }
}

async function compare(
  db: Kysely<DB>,
  agent: ValidatedAgent,
  how: { id: string; state: RequestState; timeoutSeconds: number; limit: number },
): Promise<AgentLook> {
  const look: AgentLook = { differences: [], lists: 0, entries: 0 }
  for (const list of await listAnswers(db, how.id)) {
    const room = Math.max(1, how.limit - look.differences.length)
    if (list.state !== null) look.lists += 1
    look.entries += list.listed
    look.differences.push(...(await judgeList(db, agent, list, { ...how, limit: room })))
  }
  if ((await readRequest(db, how.id)) !== 'gone') return look
  // Whoever took the agent over took the answers with it: what was compared may have been half of them.
  return blind(
    await unseen(db, agent, 'noAnswer', 'the answers were gone before they were compared', how.limit),
  )
}

async function judgeList(
  db: Kysely<DB>,
  agent: ValidatedAgent,
  list: AnsweredList,
  how: { id: string; state: RequestState; timeoutSeconds: number; limit: number },
): Promise<Difference[]> {
  const place = { agent: agent.name, list: list.list, targetId: list.targetId }
  const stake = `${list.open} open, ${list.owed} not yet answered`
  if (list.state === 'listed') return judgeEntries(db, place, how)
  if (list.state === 'unlistable')
    return list.open + list.owed === 0
      ? []
      : [differ('unlistable', { ...place, detail: `${stake}, as the agent reported` })]
  if (list.state === 'failed')
    return [differ('listFailed', { ...place, detail: `${list.error ?? 'no reason given'} (${stake})` })]
  const words =
    how.state === 'linkLost'
      ? 'its link ended while it was asked'
      : `no answer within ${how.timeoutSeconds} s (--timeout)`
  return [differ('noAnswer', { ...place, detail: `${words} (${stake})` })]
}

async function judgeEntries(
  db: Kysely<DB>,
  place: { agent: string; list: string; targetId: string },
  { id, limit }: { id: string; limit: number },
): Promise<Difference[]> {
  const found = await compareList(db, { validationId: id, targetId: place.targetId, limit })
  return found.map(({ kind, address, generation, userName, since, ...seen }) =>
    differ(kind, {
      ...place,
      address,
      generation,
      userName,
      since: sinceText(since),
      detail: listedWords(kind, seen),
    }),
  )
}

/** Each entry that is open or owed on an agent that can't be asked: nobody can say what stands there. */
async function unseen(
  db: Kysely<DB>,
  agent: ValidatedAgent,
  kind: 'agentAway' | 'noAnswer' | 'agentTooOld',
  words: string,
  limit: number,
): Promise<Difference[]> {
  const entries = await listEntriesAtStake(db, { agentId: agent.id, limit })
  return entries.map((entry) =>
    differ(kind, {
      ...toPlace(entry),
      since: kind === 'agentAway' ? sinceText(agent.lastSeenAt) : sinceText(entry.orderedAt),
      detail: `${words}; ${stakeWords(entry)}`,
    }),
  )
}

const stakeWords = ({ desired, until }: OrderedEntry): string =>
  desired === 'closed' ? 'a close is owed' : `open until ${sinceText(until) ?? 'its end'}`

const toPlace = ({ agent, list, targetId, address, generation, userName }: OrderedEntry) => ({
  agent,
  list,
  targetId,
  address,
  generation,
  userName,
})

function awayWords({ deleted, orphaned, lastSeenAt }: ValidatedAgent): string {
  if (deleted) return 'the agent was deleted; it closes everything when it next asks'
  if (orphaned) return 'the server that held its link is dead'
  return lastSeenAt === null ? 'the agent was never linked' : 'the agent has no link'
}
