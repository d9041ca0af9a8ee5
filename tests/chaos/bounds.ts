/** How long things may take, in ms. Published with each storm's results. */
export type Bounds = {
  /** From the end to a shut door with a living agent. */
  agentEndMs: number
  /** The same with a dead one: the kernel counts whole seconds. */
  kernelEndMs: number
  /** From an acknowledged loss of the right, or from the path's being whole again, to a shut door. */
  closeMs: number
  /** From an acknowledged right, or from the path's being whole again, to an open door. */
  openMs: number
  /** From silence's N seconds to a shut door. */
  silenceMs: number
  /** After an interference with a list: until it is noticed and repaired. */
  driftMs: number
  /** From a door seen shut to the end of what went through it. */
  cutMs: number
}

export const bounds: Bounds = {
  agentEndMs: 1_000,
  kernelEndMs: 2_000,
  closeMs: 3_000,
  openMs: 6_000,
  silenceMs: 2_000,
  driftMs: 7_000,
  cutMs: 1_000,
}
