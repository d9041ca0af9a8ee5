import { setTimeout as wait } from 'node:timers/promises'
import { until } from '#tests/support/until.ts'
import { createApiClient } from '../../deploy/demo/api-client.ts'
import { startAdministrator } from './administrator.ts'
import { agentNames } from './agent-names.ts'
import { bounds } from './bounds.ts'
import { familyOf, type PlannedDoor } from './doors/door-kind.ts'
import { doorKinds, kindNames } from './doors/door-kinds.ts'
import { planDoors } from './doors/plan-doors.ts'
import { buildEstate, silentSeconds } from './estate.ts'
import { openEyes } from './eyes.ts'
import { startFirewall } from './firewall.ts'
import { type Breach, createJudge, type Door, type KindMeasures, type Look } from './judge.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Muddled } from './muddle.ts'
import { createPaths, type PathEvent } from './path.ts'
import { type PersonFacts, startPerson } from './person.ts'
import { createRandom, type Random } from './random.ts'
import { createRoamer } from './roam.ts'
import { attackAtRandom } from './schedule.ts'
import { watchStalls } from './stalls.ts'
import { findUnsettled, listStanding } from './standing.ts'
import { createStreamJudge, type StreamMeasures } from './stream-judge.ts'
import { createTimeline, type Timeline } from './timeline.ts'
import { type VictimName } from './victims.ts'
import { buildWorld, doorHostFor, replicaPorts, type World } from './world.ts'

export type StormOptions = {
  seed: number
  /** How long it is attacked, in seconds; building and judging come on top. */
  seconds: number
  queue: 'postgres' | 'redis'
  /** Told how far it is. */
  say?: (line: string) => void
}

export type StormReport = StreamMeasures & {
  seed: number
  queue: 'postgres' | 'redis'
  seconds: number
  doors: number
  /** Doors × addresses that were tried all the time, and the tries. */
  watched: number
  looks: number
  /** Tries at which it was certain what the door had to be; ends of time at open doors. */
  certain: number
  ends: number
  clicks: { asked: number; answered: number; lost: number; refused: number }
  adminChanges: number
  /** Orders that came twice, late, and after younger ones. */
  muddled: Muddled
  attacks: Partial<Record<VictimName, number>>
  /** Rights that were answered and whose door is shut after the storm; doors that were or are open without a right. */
  lost: number
  leftOpen: number
  longestOverstayMs: number
  longestLockOutMs: number
  longestPutBackMs: number
  /** The same for each kind of door. */
  kinds: Record<string, KindMeasures & { doors: number; leftOpen: number }>
  /** Strict doors that stood open when the server fell silent; the longest past the seconds of WhenServerSilent. */
  heldInSilence: number
  longestSilenceMs: number
  slowestCloseMs: number
  /** From the end of the last attack until `knoc validate` found nothing. */
  convergenceMs: number
  /** From disabling everybody until every set was empty. */
  lastCloseMs: number
  /** For so long the machine itself stood still; taken off what was judged. */
  stalledMs: number
  repairs: number
  crashes: string[]
  breaches: (Breach & { timeline: string[] })[]
  /** What came near to a breach, in the same way. */
  slow: string[]
  /** In words, all that was not as it has to be; with the breaches this is what a storm fails by. */
  faults: string[]
}

/** An agent that was refused a few times waits up to 15 s; then everything is well within seconds. */
const convergenceBoundMs = 30_000
const lastCloseBoundMs = 8_000
const lookEveryMs = 150
const toldFromMs = 1_500

/** One storm, from nothing to nothing. Needs what `hasKernel` asks for, and Redis for its queue. */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const timeline = createTimeline()
  const paths = createPaths([...agentNames, 'firewall'])
  const tell = (event: PathEvent) => {
    const wasWhole = 'agent' in event && paths.stateOf(event.agent).wholeSince !== null
    paths.take(event, Date.now())
    const isWhole = 'agent' in event && paths.stateOf(event.agent).wholeSince !== null
    if ('agent' in event && event.agent === 'firewall' && isWhole === wasWhole) return
    timeline.note(`· ${event.type} ${'agent' in event ? event.agent : 'door' in event ? event.door : ''}`)
  }
  const random = createRandom(options.seed)
  const plan = planDoors(createRandom(random.next()))
  const world = await buildWorld({ queue: options.queue, doors: plan, tell })
  const stalls = watchStalls()
  try {
    return await storm({ options, random, world, timeline, paths, tell, stalls })
  } finally {
    stalls.stop()
    await world.close()
  }
}

async function storm({
  options,
  random,
  world,
  timeline,
  paths,
  tell,
  stalls,
}: {
  options: StormOptions
  random: Random
  world: World
  timeline: Timeline
  paths: ReturnType<typeof createPaths>
  tell: (event: PathEvent) => void
  stalls: ReturnType<typeof watchStalls>
}): Promise<StormReport> {
  const { seed, seconds, queue, say = () => undefined } = options
  const draw = () => createRandom(random.next())
  const estate = await buildEstate(world)
  const ledger = createLedger({ onChange: (at) => judge.note(at, estate.places) })
  const doors = world.doors.map(toDoor)
  const books = {
    rightOf: ledger.rightOf,
    pathOf: paths.stateOf,
    lossOf: paths.lossOf,
    stalledMs: stalls.between,
  }
  const judge = createJudge({ ...books, doors })
  const streams = createStreamJudge({
    ...books,
    doors: world.doors.map(({ id, kind, agent, cuts }) => ({
      ...{ id, kind, agent },
      cuts: cuts && doorKinds[kind].canCut,
    })),
    mustSince: judge.mustSince,
  })
  for (const { id, door } of estate.knocs) ledger.place(id, door, Date.now())
  const watched = await watchDoors(world, estate.places, timeline, {
    look: (look) => {
      judge.take(look)
      streams.take(look)
    },
    streams,
  })

  const roamer = createRoamer(world, draw())
  const openClient = () => createApiClient(roamer.origin, roamer.fetch)
  const admin = openClient()
  await admin.request('POST', '/admin/login', estate.admin)
  const people = estate.people.map((facts) =>
    startPerson({ facts, ledger, timeline, random: draw(), openClient }),
  )
  const administrator = startAdministrator({
    estate,
    ledger,
    timeline,
    random: draw(),
    request: (method, path, body) => admin.request(method, path, body),
  })
  const dice = draw()
  const firewall = startFirewall({
    ...estate.fetched,
    host: world.hosts[0],
    origin: () => `http://127.0.0.1:${dice.of(replicaPorts)}`,
    tell,
  })
  say(`the storm begins (seed ${seed})`)
  await until('somebody holds the strict door', () => isResidentIn(ledger, estate.people, doors), {
    withinMs: 20_000,
  })
  await wait(1_000)
  const attacks = await attackAtRandom({ world, random, timeline, tell }, seconds)
  const healedAt = Date.now()
  timeline.note('the last attack is over')
  await Promise.all([...people.map((person) => person.stop()), administrator.stop()])

  const faults: string[] = []
  say('everything has to be well again')
  const convergenceMs = await timed(healedAt, convergenceBoundMs, () => findUnsettled(world), faults)
  // What nobody could be told of is there once every door has looked by itself.
  const polls = world.doors.map(({ kind }) => doorKinds[kind].pollMs ?? 0)
  await wait(Math.max(0, healedAt + Math.max(...polls) + bounds.closeMs - Date.now()))
  const { lost, leftOpen } = await compare(world, ledger, estate.places)
  await administrator.disableAll()
  const everythingShut = async () => {
    const [one] = await listStanding(world)
    return one === undefined ? null : `${one.address} stands at ${one.door} though everybody is disabled`
  }
  const lastCloseMs = await timed(Date.now(), lastCloseBoundMs, everythingShut, faults)
  await wait(bounds.closeMs)
  await firewall.stop()

  const repairs = world.site.logged().filter((line) => line.includes('had to repair')).length
  const crashes = world.site.crashes()
  const clicks = sumUp(people.map((person) => person.counts()))
  if (repairs > 0) faults.push(`the auditor had to repair ${repairs} times`)
  if (crashes.length > 0) faults.push(`${crashes.length} processes ended by themselves`)
  if (firewall.reads() < seconds / 4) faults.push('the passive list could hardly be read')
  if (clicks.answered < clicks.asked / 3) faults.push('hardly anything was answered, so little was shown')
  const measures = judge.measures()
  const streamFaults = streams.faults().map(({ kind, door, address, at }) => {
    const whoever = whoIsAt(estate.people, address)
    return [`${kind}: ${door} for ${address}`, ...timeline.around(at, [address, ...whoever])].join('\n  ')
  })
  const breaches = judge.breaches().map((breach) => ({
    ...breach,
    timeline: timeline.around(breach.at, [breach.address, ...breach.persons]),
  }))
  const slow = Object.entries(judge.worst())
    .filter(([, { byMs }]) => byMs > toldFromMs)
    .map(([what, { door, address, startedAt, byMs }]) =>
      [
        `${what}: ${door} for ${address}, ${byMs} ms`,
        ...timeline.around(startedAt, [address, ...whoIsAt(estate.people, address)]),
      ].join('\n  '),
    )
  return {
    ...{ slow },
    ...{ seed, queue, seconds, doors: doors.length, watched },
    ...{ clicks, adminChanges: administrator.changes(), attacks },
    muddled: await sumUpMuddled(world),
    lost: lost.length,
    leftOpen: leftOpen.length + breaches.filter(({ kind }) => kind === 'leftOpen').length,
    ...measures,
    ...streams.measures(),
    kinds: Object.fromEntries(
      kindNames.map((kind) => [kind, ofKind(kind, { world, judge, breaches, leftOpen })]),
    ),
    ...{ convergenceMs, lastCloseMs, stalledMs: stalls.total(), repairs, crashes, breaches },
    faults: [...faults, ...lost, ...leftOpen.map(({ words }) => words), ...streamFaults],
  }
}

const toDoor = ({ id, kind, agent, isStrict }: PlannedDoor): Door => {
  const { endsBy, backMs, pollMs } = doorKinds[kind]
  const poll = pollMs !== undefined && { pollMs }
  return { id, kind, agent, endsBy, backMs, ...poll, silenceSeconds: isStrict ? silentSeconds : null }
}

/** What was measured at the doors of one kind. */
function ofKind(
  kind: string,
  {
    world,
    judge,
    breaches,
    leftOpen,
  }: {
    world: World
    judge: ReturnType<typeof createJudge>
    breaches: readonly Breach[]
    leftOpen: readonly { door: string }[]
  },
): StormReport['kinds'][string] {
  const ids = world.doors.filter((door) => door.kind === kind).map(({ id }) => id)
  const left = [...breaches.filter((breach) => breach.kind === 'leftOpen'), ...leftOpen]
  const measured = judge.kinds().get(kind)
  return {
    doors: ids.length,
    leftOpen: left.filter(({ door }) => ids.includes(door)).length,
    longestOverstayMs: measured?.longestOverstayMs ?? 0,
    longestLockOutMs: measured?.longestLockOutMs ?? 0,
    longestPutBackMs: measured?.longestPutBackMs ?? 0,
  }
}

async function sumUpMuddled({ agents }: World): Promise<Muddled> {
  const counts = await Promise.all(agents.map(({ relay }) => relay.counts()))
  return {
    repeated: counts.reduce((sum, { repeated }) => sum + repeated, 0),
    delayed: counts.reduce((sum, { delayed }) => sum + delayed, 0),
    overtaken: counts.reduce((sum, { overtaken }) => sum + overtaken, 0),
  }
}

const whoIsAt = (people: readonly PersonFacts[], address: string): string[] =>
  people.filter(({ places }) => places.includes(address)).map(({ userName }) => userName)

/** A silence closes something only if something stands open. */
const isResidentIn = (ledger: Ledger, people: readonly PersonFacts[], doors: readonly Door[]): boolean => {
  const residents = people.filter(({ isResident }) => isResident).map(({ userName }) => userName)
  const strict = doors.filter(({ silenceSeconds }) => silenceSeconds !== null).map(({ id }) => id)
  return ledger
    .claims()
    .some(
      ({ must, knoc, person }) =>
        must && residents.includes(person) && strict.includes(ledger.doorOf(knoc) ?? ''),
    )
}

/** Tries every door from every address of its families, from outside of its host, without end; how many pairs. */
async function watchDoors(
  world: World,
  places: readonly string[],
  timeline: Timeline,
  told: { look: (look: Look) => void; streams: ReturnType<typeof createStreamJudge> },
): Promise<number> {
  let pairs = 0
  for (const host of world.hosts) {
    const watched = world.doors
      .filter((door) => door.host === host)
      .flatMap(({ id, port, kind }) =>
        places
          .filter((from) => doorKinds[kind].families.includes(familyOf(from)))
          .map((from) => ({ id, host: doorHostFor(from), port, from, keepsStream: doorKinds[kind].canCut })),
      )
    pairs += watched.length
    const seen = new Map<object, string>()
    const eyes = openEyes(host.placeOutside)
    world.atEnd(eyes.stop)
    await eyes.watch(watched, lookEveryMs, {
      sights: (sights) => {
        for (const [at, startedAt, endedAt, state] of sights) {
          const door = watched[at]
          if (door === undefined) continue
          if (seen.get(door) !== state)
            timeline.note(`  ${door.id} is ${state} for ${door.from}`, [door.from])
          seen.set(door, state)
          told.look({ door: door.id, address: door.from, startedAt, endedAt, state })
        }
      },
      stream: ([, at, openedAt, endedAt]) => {
        const door = watched[at]
        if (door === undefined) return
        if (endedAt === null) return told.streams.opened(door.id, door.from, openedAt)
        timeline.note(`  a stream through ${door.id} ends for ${door.from}`, [door.from], endedAt)
        told.streams.ended(door.id, door.from, endedAt)
      },
    })
  }
  return pairs
}

/** The books against what stands, once nothing moves any more. */
async function compare(world: World, ledger: Ledger, places: readonly string[]) {
  const standing = await listStanding(world)
  const at = Date.now()
  const lost = world.doors.flatMap((door) =>
    places.flatMap((address) => {
      const { must, claims } = ledger.rightOf(door.id, address, at)
      if (!must || standing.some((one) => one.door === door.id && one.address === address)) return []
      const who = claims.filter((claim) => claim.must).map(({ person }) => person)
      return [`lost: ${who.join(', ')} may use ${door.id} from ${address}, and it is shut`]
    }),
  )
  const leftOpen = standing.flatMap(({ door, address, seconds }) => {
    const { mayUntil } = ledger.rightOf(door, address, at)
    const beyondMs = at + seconds * 1_000 - mayUntil
    if (beyondMs <= bounds.kernelEndMs) return []
    const words =
      mayUntil <= at
        ? `left open: ${door} for ${address}`
        : `${door} stands open for ${address} ${beyondMs} ms longer than anybody may use it`
    return [{ door, words }]
  })
  return { lost, leftOpen }
}

/** Waits until nothing is found any more, in ms from `from`; what is still found when that takes too long is a fault. */
async function timed(
  from: number,
  withinMs: number,
  find: () => Promise<string | null>,
  faults: string[],
): Promise<number> {
  let found: string | null = null
  const isWell = async () => {
    found = await find().catch((error: unknown) => String(error))
    return found === null
  }
  await until('nothing is found', isWell, { withinMs, everyMs: 100 }).catch(() =>
    faults.push(`not within ${withinMs} ms: ${found}`),
  )
  return Date.now() - from
}

const sumUp = (counts: readonly StormReport['clicks'][]): StormReport['clicks'] => ({
  asked: counts.reduce((sum, { asked }) => sum + asked, 0),
  answered: counts.reduce((sum, { answered }) => sum + answered, 0),
  lost: counts.reduce((sum, { lost }) => sum + lost, 0),
  refused: counts.reduce((sum, { refused }) => sum + refused, 0),
})
