import type { Door } from './doors.ts'
import type { PortRange, Rule, Ruleset } from './rule.ts'
import { judge, type Packet, type Verdict } from './verdict.ts'

/** What ends an established flow when its address leaves a set; the capability `cut` of protocol.ts. */
export type CutWay = 'rules' | 'sockets' | 'conntrack' | 'none'

/** What a host has for ending flows. */
export type CutMeans = {
  rulesets: readonly Ruleset[]
  /** Whether `ss -K` ends sockets here. */
  canEndSockets: boolean
  hasConntrack: boolean
  /** `net.netfilter.nf_conntrack_tcp_loose`: false means that a flow nobody knows is not taken up in its middle. */
  isLoose: boolean
  /** Established flows may pass by without any rule being asked (a flow table of nftables). */
  hasFlowTable: boolean
}

/** How one door treats people who have left its set. */
export type DoorFacts = {
  door: Door
  way: CutWay
  /** Where somebody who isn't in the set ends up who tries to connect; dropped, if the door is one. */
  opening: Verdict
  /** Where the next packet of an established flow ends up, and by which rule. */
  established: Verdict
  /** A packet that belongs to no connection known to the kernel is let through. */
  passesInvalid: boolean
}

/** Judges a door by packets of somebody who is in no set. */
export function judgeDoor(door: Door, means: CutMeans): DoorFacts {
  const rulesets = means.rulesets.filter(({ family }) => family === door.ruleset.family)
  const send = (over: Partial<Packet>) =>
    worstOf(
      samplePorts(door.ports).map((port) => judge(rulesets, hookOf(door, over), toPacket(door, port, over))),
    )
  const established = send({ state: 'ESTABLISHED' })
  const opening = send({ state: 'NEW', isOpening: true })
  const passesInvalid = send({ state: 'INVALID' }).verdict === 'accept'
  const facts = { door, opening, established, passesInvalid }
  if (opening.verdict === 'accept') return { ...facts, way: 'none' }
  const isCutByRules = established.verdict === 'drop'
  const isOffloaded = means.hasFlowTable && door.hook === 'FORWARD'
  if (isCutByRules && !isOffloaded) return { ...facts, way: 'rules' }
  if (door.hook === 'INPUT' && door.protocol === 'tcp' && means.canEndSockets)
    return { ...facts, way: 'sockets' }
  if (!means.hasConntrack) return { ...facts, way: 'none' }
  const isForgottenForGood = !means.isLoose && door.protocol === 'tcp' && !passesInvalid
  // Taken up in its middle, by whichever side speaks first: then neither side's packet may pass as a new flow.
  const isNeverTakenUp =
    send({ state: 'NEW' }).verdict === 'drop' && send({ state: 'NEW', toServer: false }).verdict === 'drop'
  return { ...facts, way: isCutByRules || isForgottenForGood || isNeverTakenUp ? 'conntrack' : 'none' }
}

/** The answer for a set: its weakest door counts. Null when no rule is known that asks for it. */
export function weakestWay(facts: readonly DoorFacts[]): CutWay | null {
  const order: readonly CutWay[] = ['none', 'conntrack', 'sockets', 'rules']
  return order.find((way) => facts.some((one) => one.way === way)) ?? null
}

/** Whether somebody who left a door's set may go on using a port of it by the sets he is still in. */
export function isStillLetIn(
  door: Door,
  port: number,
  rulesets: readonly Ruleset[],
  isIn: (set: string) => boolean,
): boolean {
  const same = rulesets.filter(({ family }) => family === door.ruleset.family)
  const packet = toPacket(door, port, { state: 'NEW', isOpening: true })
  if (judge(same, door.hook, packet).verdict === 'accept') return false
  return judge(same, door.hook, { ...packet, isIn }).verdict === 'accept'
}

const hookOf = (door: Door, { toServer = true }: Partial<Packet>) =>
  toServer || door.hook === 'FORWARD' ? door.hook : 'OUTPUT'

const toPacket = (door: Door, port: number | null, over: Partial<Packet>): Packet => ({
  protocol: door.protocol,
  port,
  toServer: true,
  state: 'NEW',
  isOpening: false,
  isIn: () => false,
  given: over.toServer === false ? new Set() : door.given,
  ...over,
})

/** Rules are asked about the first port of each range: they rarely part within one. */
const samplePorts = (ports: readonly PortRange[] | null): (number | null)[] =>
  ports === null ? [null] : ports.map(([from]) => from)

const worstOf = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.find(({ verdict }) => verdict === 'accept') ?? verdicts[0] ?? nothing

const nothing: Verdict = { verdict: 'accept', by: null, through: null, table: 'filter' }

/** The rule that lets established flows go on; null when none does. */
export const acceptsFirst = ({ established }: DoorFacts): Rule | null =>
  established.verdict === 'accept' ? established.by : null
