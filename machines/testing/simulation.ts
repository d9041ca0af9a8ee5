import { createAddressReference } from './address-reference.ts'
import { epilogue, type HistoryEvent } from './history-events.ts'
import { brokenPromise, keys } from './properties.ts'
import { createReference } from './reference-model.ts'
import type { Rules } from './rules.ts'
import { createAgent, type SimulatedAnswer, type SimulatedFrame } from './simulated-agent.ts'
import { createServer } from './simulated-server.ts'
import { addresses, beginning, carriers, knocs, randomFrom, targets } from './world.ts'

type Flight = { at: number; link: number } & (
  | { to: 'agent'; frame: SimulatedFrame }
  | { to: 'server'; answer: SimulatedAnswer }
)

const resyncRetryMs = 1_000
/** Enough steps for any honest history; more is an endless loop. */
const mostSteps = 20_000

/** Lives through a history and answers the first property that breaks, or null. */
export function liveThrough(rules: Rules, events: readonly HistoryEvent[], seed: number): string | null {
  const random = randomFrom(seed)
  let now = beginning
  let link = 1
  let isLinked = true
  let isHung = false
  let isLossy = false
  let hasMetSinceBoot = true
  let heardAt = beginning
  let slowMs = 0
  let resync: { batch: number; retryAt: number } | null = null
  let batch = 0
  let steps = 0
  let flights: Flight[] = []

  const reference = createReference(knocs, keys, beginning)
  const looks = createAddressReference()
  const agent = createAgent(rules, beginning)
  const server = createServer(rules, {
    order: (order) => send({ to: 'agent', frame: { type: 'order', order, sentAt: now } }),
    fact: (fact, at) => reference.note(fact, at),
  })
  agent.welcome(now)

  const hasContact = (): boolean => isLinked && !isHung && agent.isUp()

  /** What was sent arrives late, twice or (lossy) never, in any order; what a dropped link held is gone. */
  function send(
    what: { to: 'agent'; frame: SimulatedFrame } | { to: 'server'; answer: SimulatedAnswer },
  ): void {
    if (!hasContact()) return
    const delay = () => Math.floor(random() * (isLossy ? 20_000 : 300))
    if (!isLossy || random() > 0.4) flights.push({ at: now + delay(), link, ...what })
    if (random() < 0.1) flights.push({ at: now + delay(), link, ...what })
  }

  const sendBuckets = (): void => {
    if (!resync) return
    resync.retryAt = now + resyncRetryMs
    const frame = {
      type: 'buckets',
      orders: server.openOrders(),
      asOfGeneration: server.generation(),
    } as const
    send({ to: 'agent', frame: { ...frame, batch: resync.batch, sentAt: now } })
  }
  const startResync = (): void => {
    resync = { batch: ++batch, retryAt: now }
    sendBuckets()
  }

  const noteReach = (): void => {
    const contact = hasContact()
    if (contact && !hasMetSinceBoot) {
      hasMetSinceBoot = true
      slowMs = 0
    }
    const steady = agent.isUp() && agent.isClockKnown() && hasMetSinceBoot
    reference.note({ type: 'reach', contact, healthy: contact && !isLossy, steady }, now)
  }
  const meet = (): void => {
    if (!hasContact()) return
    agent.welcome(now)
    agent.apply(now)
    startResync()
  }
  const dropLink = (): void => {
    isLinked = false
    flights = []
    resync = null
  }

  const fault = (): string | null => brokenPromise({ reference, looks, agent, server, now, slowMs })

  function process(): void {
    if (hasContact()) {
      heardAt = now
      agent.hearTruth(now)
    }
    const due = flights.filter((flight) => flight.at <= now)
    flights = flights.filter((flight) => flight.at > now)
    for (const flight of due) {
      if (flight.link !== link) continue
      if (flight.to === 'agent') {
        for (const answer of agent.receive(flight.frame, now)) send({ to: 'server', answer })
      } else if (flight.answer.type === 'applied') {
        server.settled(flight.answer.key, flight.answer.generation)
      } else if (flight.answer.batch === resync?.batch) resync = null
    }
    server.sweep(now, hasContact())
    if (resync && hasContact() && resync.retryAt <= now) sendBuckets()
    agent.apply(now)
  }

  const nextAt = (): number => {
    let next = Math.min(server.nextAt(hasContact()), agent.nextAt(now, !hasContact()))
    for (const { at } of flights) next = Math.min(next, at)
    if (resync && hasContact()) next = Math.min(next, resync.retryAt)
    return next
  }

  function advance(ms: number): string | null {
    const until = now + ms
    for (;;) {
      if (++steps > mostSteps) return 'it never comes to rest'
      now = Math.min(until, Math.max(now, nextAt()))
      const before = fault()
      if (before) return before
      process()
      const after = fault()
      if (after) return after
      if (now >= until && nextAt() > now) return null
    }
  }

  function happen(event: HistoryEvent): string | null {
    const seen = 'address' in event ? addresses[event.address] : undefined
    const knoc = 'knoc' in event ? (knocs[event.knoc]?.id ?? '') : ''
    switch (event.type) {
      case 'wait':
        return advance(event.ms)
      case 'signIn':
        if (!seen || server.isLive(event.session)) break
        looks.signIn(event.session, seen, now)
        server.signIn(event.session, event.seconds, seen, now)
        break
      case 'endSession':
        server.endSession(event.session, now)
        break
      case 'setEnabled':
        server.setEnabled(event.session, event.enabled, now)
        break
      case 'grant':
        server.grant(event.session, knoc, now)
        break
      case 'revoke':
        server.revoke(event.session, knoc, now)
        break
      case 'restrict':
        if (seen) server.restrict(knoc, seen.address, event.restricted, now)
        break
      case 'see':
        if (seen && server.see(event.session, seen, now)) looks.see(event.session, seen, now)
        break
      case 'discover':
        server.discover(event.session, carriers[event.carrier] ?? '', now)
        break
      case 'entitle':
        server.entitle(event.session, knoc, event.entitled, now)
        break
      case 'license':
        server.license(event.session, event.licensed, now)
        break
      case 'licence':
        server.setLicence(event.standing, now)
        break
      case 'shorten':
        server.shorten(event.session, event.seconds, now)
        break
      case 'setMaximum':
        server.setMaximum(knoc, event.seconds, now)
        break
      case 'retarget':
        server.retarget(knoc, Object.keys(targets)[event.target] ?? '', now)
        break
      case 'setFixed': {
        const fixed = event.addresses?.map((index) => addresses[index]?.address ?? '') ?? null
        server.setAddresses(knoc, { fixed }, now)
        break
      }
      case 'setCgnat':
        server.setAddresses(knoc, { cgnatOpen: event.open }, now)
        break
      case 'deleteKnoc':
        server.deleteKnoc(knoc, now)
        break
      case 'link':
        if (event.up === isLinked) break
        if (event.up) {
          isLinked = true
          link++
          meet()
        } else dropLink()
        noteReach()
        break
      case 'hang':
        if (event.hung === isHung) break
        isHung = event.hung
        if (!isHung) meet()
        noteReach()
        break
      case 'lossy':
        isLossy = event.lossy
        noteReach()
        break
      case 'stopAgent':
        agent.stop()
        flights = []
        link++
        resync = null
        noteReach()
        break
      case 'startAgent':
        if (agent.isUp()) break
        agent.start(now, event)
        if (event.reboot) hasMetSinceBoot = false
        slowMs = !hasMetSinceBoot && agent.isClockKnown() ? now - heardAt : 0
        noteReach()
        agent.apply(now)
        meet()
        noteReach()
        break
      case 'jumpWall':
        agent.jumpWall(event.byMs)
        break
      case 'resync':
        if (hasContact()) startResync()
        break
    }
    // No two things happen within one millisecond.
    return advance(1)
  }

  for (const event of [...events, ...epilogue]) {
    const wrong = happen(event)
    if (wrong) return wrong
  }
  return null
}
