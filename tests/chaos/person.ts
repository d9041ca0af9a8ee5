import { setTimeout as wait } from 'node:timers/promises'
import type { GrantAnswer } from '#server/grants/grant.schema.ts'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import { password } from '#tests/support/site.ts'
import { type ApiClient, ApiFailure } from '../../deploy/demo/api-client.ts'
import { familyOf } from './doors/door-kind.ts'
import { type Act, type Claim, failedLingerMs, type Ledger, lingerMs, type Outcome } from './ledger.ts'
import type { Random } from './random.ts'
import { wasNeverAsked } from './roam.ts'
import type { Timeline } from './timeline.ts'

/** A knoc of the storm, whether it opens by signing in alone, and which addresses its list can hold. */
export type StormKnoc = { id: string; name: string; isAutomatic: boolean; families: readonly (4 | 6)[] }

/** Somebody of the storm: where he can be, and how long his sessions last. */
export type PersonFacts = {
  userId: string
  userName: string
  places: readonly string[]
  sessionMinutes: number
  /** Has one session at a time. */
  isSingle: boolean
  /** Comes and stays, and holds whatever he may hold. */
  isResident: boolean
  knocs: readonly StormKnoc[]
}

type Session = {
  name: string
  client: ApiClient
  address: string
  /** What the server said it holds: one address, or one of each family. */
  held: ReadonlySet<string>
  /** Where it has been: going back within minutes is flapping and holds both. */
  seen: Set<string>
  ends: number
  /** The server said so. */
  isOver: boolean
}

/** Status numbers at which the session's grant lives and can be carried out. */
const live: readonly number[] = [0, 2, 3, 5, 6]

/**
 * Comes and goes for as long as the storm lasts: signs in, clicks, moves, signs out, and writes into the books what
 * he asked and what he was answered.
 */
export function startPerson(deps: {
  facts: PersonFacts
  ledger: Ledger
  timeline: Timeline
  random: Random
  openClient: () => ApiClient
}) {
  const { facts, ledger, timeline, random } = deps
  const { userName, knocs } = facts
  const sessions: Session[] = []
  /** Sessions of which an answer was lost: nobody uses them any more, and they are signed out when that is certain. */
  const doubtful: { session: Session; from: number }[] = []
  const counts = { asked: 0, answered: 0, lost: 0, refused: 0 }
  let isOver = false
  let made = 0

  const of = (session: { name: string }) => (claim: Claim) => claim.session === session.name
  const isAutomatic = (id: string) => knocs.some((knoc) => knoc.id === id && knoc.isAutomatic)

  function claimAll(session: string, address: string): void {
    for (const knoc of knocs.filter((one) => fits(one, address)))
      ledger.claim({ person: userName, session, knoc: knoc.id, address }, Date.now())
  }

  /** One question and its answer, in the books and in the time line. */
  async function ask<Answer>(
    what: string,
    acts: { act: Act; answered: (claim: Claim, answer: Answer) => Outcome }[],
    question: () => Promise<Answer>,
    session?: Session,
  ): Promise<Answer | undefined> {
    const from = Date.now()
    const flying = acts.map(({ act }) => ledger.begin(act, from))
    const about = [userName, ...facts.places]
    counts.asked += 1
    try {
      const answer = await question()
      const at = Date.now()
      for (const [index, one] of flying.entries())
        one.end((claim) => acts[index]?.answered(claim, answer) ?? { kind: 'lost', lingerMs }, at)
      counts.answered += 1
      timeline.note(`${userName} ${what}: answered after ${at - from} ms`, about)
      return answer
    } catch (error) {
      const at = Date.now()
      const status = error instanceof ApiFailure ? error.status : 599
      const wasHeard = status >= 500 && !wasNeverAsked(error)
      const isAnswered = error instanceof ApiFailure
      const outcome: Outcome = wasHeard
        ? { kind: 'lost', lingerMs: isAnswered ? failedLingerMs : lingerMs }
        : { kind: 'refused' }
      for (const one of flying) one.end(outcome, at)
      counts[outcome.kind] += 1
      const words = error instanceof Error ? error.message : String(error)
      timeline.note(`${userName} ${what}: ${outcome.kind} after ${at - from} ms (${words})`, about)
      if (session !== undefined && status === 401) leave(session, at)
      else if (session !== undefined && outcome.kind === 'lost') doubt(session, at, outcome.lingerMs)
      return undefined
    }
  }

  /** The session is no more, as the server says: nothing of it may stand. */
  function leave(session: Session, at: number): void {
    const gone: Act = { what: 'is signed out', scope: of(session), effect: { kind: 'close' } }
    ledger.begin(gone, at).end({ kind: 'done' }, at)
    session.isOver = true
    forget(session)
  }

  function forget(session: Session): void {
    if (sessions.includes(session)) sessions.splice(sessions.indexOf(session), 1)
  }

  function doubt(session: Session, at: number, forMs: number): void {
    forget(session)
    doubtful.push({ session, from: at + forMs + 200 })
  }

  const headersOf = (address: string) => ({ 'X-Forwarded-For': address })

  async function signIn(): Promise<void> {
    const address = random.of(facts.places as [string, ...string[]])
    const session: Session = {
      name: `${userName}/${(made += 1)}`,
      client: deps.openClient(),
      address,
      held: new Set([address]),
      seen: new Set([address]),
      ends: 0,
      isOver: false,
    }
    claimAll(session.name, address)
    const latest = Date.now() + facts.sessionMinutes * 60_000 + 20_000
    let isIn = false
    const opens: Act = {
      what: 'signs in',
      scope: (claim) => of(session)(claim) && isAutomatic(claim.knoc),
      effect: { kind: 'open', latest },
    }
    /** Who may have one session loses all others by signing in. */
    const ends: Act = {
      what: 'loses sessions',
      scope: (claim) => facts.isSingle && claim.person === userName && claim.session !== session.name,
      effect: { kind: 'close' },
    }
    const status = await ask(
      `signs in at ${address}`,
      [
        { act: opens, answered: (claim, answer: UserStatus) => outcomeOf(statusOf(answer, claim.knoc)) },
        { act: ends, answered: () => ({ kind: 'done' }) },
      ],
      async () => {
        const body = { UserName: userName, Password: password }
        await session.client.request('POST', '/login', body, headersOf(address))
        isIn = true
        // A session that can't be asked after is one whose answer was lost.
        return session.client
          .request<UserStatus>('GET', '/status', undefined, headersOf(address))
          .catch((error: unknown) => {
            throw new Error(`signed in, then: ${String(error)}`)
          })
      },
    )
    if (status === undefined) return isIn ? doubt(session, Date.now(), lingerMs) : undefined
    session.ends = Date.parse(status.Ends)
    if (facts.isSingle) sessions.length = 0
    sessions.push(session)
  }

  async function grant(session: Session, knoc: StormKnoc): Promise<void> {
    const act: Act = {
      what: 'clicks Grant',
      scope: (claim) => of(session)(claim) && claim.knoc === knoc.id && session.held.has(claim.address),
      effect: { kind: 'open', latest: session.ends },
    }
    await ask(
      `grants ${knoc.name} at ${session.address}`,
      [{ act, answered: (_, answer: GrantAnswer) => outcomeOf(answer) }],
      () =>
        session.client.request<GrantAnswer>(
          'POST',
          '/grant',
          { ACLID: knoc.id, IPs: [] },
          headersOf(session.address),
        ),
      session,
    )
  }

  async function revoke(session: Session, knoc: StormKnoc): Promise<void> {
    const act: Act = {
      what: 'clicks Revoke',
      scope: (claim) => of(session)(claim) && claim.knoc === knoc.id,
      effect: { kind: 'close' },
    }
    await ask(
      `revokes ${knoc.name} at ${session.address}`,
      [{ act, answered: () => ({ kind: 'done' }) }],
      () =>
        session.client.request(
          'DELETE',
          `/sessions/current/granted-acls/${knoc.id}`,
          undefined,
          headersOf(session.address),
        ),
      session,
    )
  }

  async function signOut(session: Session): Promise<void> {
    const act: Act = { what: 'signs out', scope: of(session), effect: { kind: 'close' } }
    forget(session)
    const answer = await ask(
      `signs out at ${session.address}`,
      [{ act, answered: () => ({ kind: 'done' }) }],
      async () => {
        await session.client.request('POST', '/logout', undefined, headersOf(session.address))
        return { isOut: true }
      },
      session,
    )
    const isKnown = session.isOver || doubtful.some((one) => one.session === session)
    if (answer === undefined && !isKnown) doubtful.push({ session, from: Date.now() })
  }

  /** Asks how it is, once nothing of what was lost can still be carried out; then goes on with it. */
  async function learn(session: Session): Promise<void> {
    const act: Act = { what: 'learns', scope: of(session), effect: { kind: 'learn' } }
    const status = await ask(
      'asks how it is',
      [
        {
          act,
          answered: (claim, answer: UserStatus) =>
            addressesOf(answer).has(claim.address)
              ? outcomeOf(statusOf(answer, claim.knoc))
              : { kind: 'done' },
        },
      ],
      () => session.client.request<UserStatus>('GET', '/status', undefined, headersOf(session.address)),
      session,
    )
    const isKnown = session.isOver || doubtful.some((one) => one.session === session)
    if (status === undefined && !isKnown) doubtful.push({ session, from: Date.now() })
    if (status === undefined) return
    session.ends = Date.parse(status.Ends)
    session.held = addressesOf(status)
    const isThere = status.Addresses.some(({ IP }) => IP === session.address)
    if (!isThere) session.address = status.Addresses[0]?.IP ?? session.address
    sessions.push(session)
  }

  /** Access follows: what the old address had the new one gets. */
  async function move(session: Session): Promise<void> {
    const to = facts.places.find((place) => !session.seen.has(place))
    if (to === undefined) return
    session.seen.add(to)
    claimAll(session.name, to)
    const comes: Act = {
      what: 'comes',
      scope: (claim) => of(session)(claim) && claim.address === to,
      effect: { kind: 'open', latest: session.ends },
    }
    const goes: Act = {
      what: 'goes',
      scope: (claim) => of(session)(claim) && claim.address !== to,
      effect: { kind: 'close' },
    }
    const isHeld = (answer: UserStatus, address: string) => addressesOf(answer).has(address)
    const answer = await ask(
      `moves from ${session.address} to ${to}`,
      [
        {
          act: comes,
          answered: (claim, status: UserStatus) =>
            isHeld(status, to) ? outcomeOf(statusOf(status, claim.knoc)) : { kind: 'refused' },
        },
        {
          act: goes,
          answered: (claim, status: UserStatus) =>
            isHeld(status, claim.address) ? { kind: 'refused' } : { kind: 'done' },
        },
      ],
      () =>
        session.client.request<UserStatus>('GET', '/status', undefined, {
          ...headersOf(to),
          'X-Knoc-Revalidate': '1',
        }),
      session,
    )
    if (answer === undefined) return
    session.address = to
    session.held = addressesOf(answer)
  }

  const statusOf = (status: UserStatus, knoc: string): AclStatus | undefined =>
    status.ACLs.find((acl) => acl.ACLID === knoc)

  /** Holds everything: what he has is granted again without a change. */
  async function stay(session: Session): Promise<void> {
    const mine = new Set(
      ledger
        .claims()
        .filter((claim) => of(session)(claim) && claim.must)
        .map(({ knoc }) => knoc),
    )
    const missing = knocs.filter((knoc) => !knoc.isAutomatic && !mine.has(knoc.id))
    const knoc = missing[random.below(Math.max(1, missing.length))]
    if (knoc !== undefined) await grant(session, knoc)
  }

  async function actOnce(): Promise<void> {
    const certain = doubtful.findIndex(({ from }) => from < Date.now())
    for (const { session } of certain < 0 ? [] : doubtful.splice(certain, 1)) return learn(session)
    for (const session of [...sessions]) if (session.ends < Date.now() + 1_500) forget(session)
    const [session] = sessions.length === 0 ? [] : [sessions[random.below(sessions.length)]]
    if (session !== undefined && facts.isResident) return stay(session)
    if (session === undefined || (sessions.length < 2 && random.below(14) === 0)) return signIn()
    const clickable = knocs.filter((knoc) => !knoc.isAutomatic && canUse(session, knoc))
    const knoc = clickable[random.below(clickable.length)]
    const draw = random.below(100)
    if (knoc !== undefined && draw < 46) await grant(session, knoc)
    else if (knoc !== undefined && draw < 84) await revoke(session, knoc)
    else if (draw < 92) await move(session)
    else if (draw < 97) await signOut(session)
  }

  const coming = (async () => {
    while (!isOver) {
      const lost = counts.lost
      await actOnce()
      // Whoever gets no answer tries again, but not at once.
      await wait((counts.lost > lost ? 1_000 : 100) + random.below(900))
    }
  })()

  return {
    facts,
    counts: () => ({ ...counts }),
    stop: async () => {
      isOver = true
      await coming
    },
  }
}

const fits = ({ families }: StormKnoc, address: string): boolean => families.includes(familyOf(address))

const canUse = ({ held }: Session, knoc: StormKnoc): boolean => [...held].some((one) => fits(knoc, one))

const addressesOf = ({ Addresses }: UserStatus): ReadonlySet<string> => new Set(Addresses.map(({ IP }) => IP))

/** What an answer means for a claim: it stands until its end, it doesn't, or it can't be said. */
function outcomeOf(answer: { Status: number; ExpiredAfter: string | null } | undefined): Outcome {
  if (answer === undefined) return { kind: 'done' }
  if (answer.Status === 1) return { kind: 'lost', lingerMs: failedLingerMs }
  const isLive = live.includes(answer.Status) && answer.ExpiredAfter !== null
  return isLive ? { kind: 'done', until: Date.parse(answer.ExpiredAfter ?? '') } : { kind: 'done' }
}
