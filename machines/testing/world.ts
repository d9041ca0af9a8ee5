/** The small world of the generated histories: three sessions, four knocs on two targets, six addresses. */
export type Knoc = {
  id: string
  targetId: string
  silenceSeconds: number | null
  cut: boolean
  maximumGrantSeconds: number | null
}

/** Two knocs on each target, one that keeps its door through a silence of the server and one that doesn't. */
export const knocs: readonly Knoc[] = [
  { id: 'ssh', targetId: 'kernel', silenceSeconds: null, cut: true, maximumGrantSeconds: 2_419_200 },
  { id: 'database', targetId: 'kernel', silenceSeconds: 60, cut: false, maximumGrantSeconds: 3_600 },
  { id: 'wiki', targetId: 'proxy', silenceSeconds: 30, cut: true, maximumGrantSeconds: null },
  { id: 'camera', targetId: 'proxy', silenceSeconds: null, cut: false, maximumGrantSeconds: 300 },
]

/** Whether entries on a target end by themselves (kernel timeouts) or only through the agent. */
export const targets: Readonly<Record<string, { expiry: 'native' | 'agent' }>> = {
  kernel: { expiry: 'native' },
  proxy: { expiry: 'agent' },
}

export const addresses: readonly { address: string; family: 4 | 6 }[] = [
  { address: '198.51.100.1', family: 4 },
  { address: '198.51.100.2', family: 4 },
  { address: '198.51.100.3', family: 4 },
  { address: '203.0.113.9', family: 4 },
  { address: '2001:db8::1', family: 6 },
  { address: '2001:db8::2', family: 6 },
]

/** Addresses at which only a lookup port sees somebody. */
export const carriers: readonly string[] = ['203.0.113.77', '203.0.113.78']

/** How many sessions there are. */
export const sessionCount = 3

/** The history begins here, so that no instant is 0. */
export const beginning = 1_000_000_000_000

/** Pseudo-random numbers 0 … 1 (mulberry32): the network's moods, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
