import { agentNames } from '../agent-names.ts'
import type { Random } from '../random.ts'
import type { KindName, PlannedDoor } from './door-kind.ts'
import { doorKinds, kindNames } from './door-kinds.ts'

/** Doors that are drawn beside one of each kind. */
const extraDoors = 2
const firstDrawnPort = 2_211

const plain = { kind: 'ipset', isStrict: false, cuts: true } as const

/** Doors of every storm: two of one agent, three of the other, of which one closes in silence, and two of foreign firewalls. */
const standingDoors: readonly PlannedDoor[] = [
  { ...plain, id: 'files', agent: 'edge-1', hostIndex: 0, port: 2201 },
  { ...plain, id: 'team', agent: 'edge-1', hostIndex: 0, port: 2202 },
  { ...plain, id: 'open', agent: 'edge-2', hostIndex: 1, port: 2203 },
  { ...plain, id: 'strict', agent: 'edge-2', hostIndex: 1, port: 2204, isStrict: true },
  { ...plain, id: 'annex', agent: 'edge-2', hostIndex: 1, port: 2205 },
  { ...plain, id: 'fetched', kind: 'list', agent: 'firewall', hostIndex: 0, port: 2206 },
  { ...plain, id: 'told', kind: 'panos', agent: 'edge-1', hostIndex: 0, port: 2207 },
]

/**
 * The doors of one storm: the standing ones, one of each other kind with the agent that no storm silences, and some
 * more by their shares, each with an agent that is drawn too. An agent has one door of HAProxy and one of scripts at most, as its host has one of each.
 */
export function planDoors(random: Random): PlannedDoor[] {
  const drawn: PlannedDoor[] = []
  const add = (kind: KindName, { first, cuts }: { first: number; cuts: boolean }): void => {
    const hostIndex = ([first, 1 - first] as (0 | 1)[]).find((index) => isFree(drawn, kind, index))
    if (hostIndex === undefined) return
    const number = drawn.filter((door) => door.kind === kind).length + 1
    const id = `${kind}-${number}`
    const port = firstDrawnPort + drawn.length
    drawn.push({ ...plain, id, kind, agent: agentNames[hostIndex], hostIndex, port, cuts })
  }
  const lots = kindNames.flatMap((kind) => Array.from({ length: doorKinds[kind].share }, () => kind))
  for (const kind of new Set(lots)) add(kind, { first: 0, cuts: true })
  for (let more = 0; more < extraDoors; more += 1)
    add(lots[random.below(lots.length)] ?? 'ipset6', {
      first: random.below(2),
      cuts: random.below(3) > 0,
    })
  return [...standingDoors, ...drawn]
}

const isFree = (drawn: readonly PlannedDoor[], kind: KindName, hostIndex: number): boolean =>
  kind === 'ipset6' || !drawn.some((door) => door.kind === kind && door.hostIndex === hostIndex)

/** The doors that were drawn, which a knoc of their own opens. */
export const isDrawn = ({ port }: Pick<PlannedDoor, 'port'>): boolean => port >= firstDrawnPort
