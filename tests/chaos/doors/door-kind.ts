import type { TestHost } from '#tests/support/host.ts'

/** Every kind of door that a storm has; a report counts by these names. */
export type KindName = 'ipset' | 'ipset6' | 'haproxy' | 'script' | 'list' | 'panos'

/** A door as it is planned: kept by this agent, on the host of this number. */
export type PlannedDoor = {
  id: string
  kind: KindName
  agent: string
  hostIndex: 0 | 1
  port: number
  /** Its knoc closes it when the server is silent. */
  isStrict: boolean
  /** Its knocs end what goes through it as it closes. */
  cuts: boolean
}

/**
 * One kind of door: what is promised of it, and how one is made. A kind is one file beside this one and a row in
 * `door-kinds.ts`; whatever judges, attacks and counts takes it from there.
 */
export type DoorKind = {
  /** How often it is drawn among the doors that nobody planned; 0: only where one is planned. */
  share: number
  families: readonly (4 | 6)[]
  /**
   * What ends an entry when its agent is dead: the kernel, nothing until the agent is back, or whoever fetches the
   * list. README, "What closes a door when nobody can tell the agent".
   */
  endsBy: 'kernel' | 'agent' | 'reader'
  /**
   * How often it looks by itself at what it is otherwise told of. What changed while something was broken may take
   * so much longer.
   */
  pollMs?: number
  /** Whether connections through it are ended where its knoc says so. */
  canCut: boolean
  /** Ms from a loss of all its entries until they stand again; README, "What happens to a door when …". */
  backMs: number
  build: (host: TestHost, plan: PlannedDoor) => Promise<BuiltDoor>
}

type DoorConfig = { backend: Record<string, unknown>; acl: Record<string, unknown> }

/** A door on its host. */
export type BuiltDoor = {
  /** `Config` of the backend and of the ACL, as the API takes them, and of the child where it has one. */
  config: DoorConfig & { child?: DoorConfig }
  /** Hears where its list can be fetched, once its knoc is there. */
  publish?: (list: { urls: string[]; key: string }) => Promise<void>
  /** What its agent's `agent.json` has to allow. */
  agentFile: Record<string, unknown>
  /** What stands there now: address → seconds left, 0 for an entry without an end. */
  standing: () => Promise<Map<string, number>>
  /** What a boot of its host takes along. */
  boot: () => Promise<void>
  /** Takes its entries away behind the agent's back, where the agent can notice. */
  lose?: () => Promise<void>
  /** The program that has its entries or is told of them. One that can be reloaded forgets what it has. */
  program?: { kill: () => Promise<void>; start: () => Promise<void>; reload?: () => Promise<void> }
  close: () => Promise<void>
}

/** The sets of a door that has any. */
export const setsOf = ({ id }: Pick<PlannedDoor, 'id'>) => ({ set4: `${id}4`, set6: `${id}6` })

/** Of which family an address is. */
export const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)
