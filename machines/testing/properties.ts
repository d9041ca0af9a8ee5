import { heldAddresses } from '../address-move.ts'
import type { createAddressReference } from './address-reference.ts'
import type { createReference } from './reference-model.ts'
import type { createAgent } from './simulated-agent.ts'
import type { createServer } from './simulated-server.ts'
import { addresses, carriers, sessionCount, targets } from './world.ts'

/** Every entry there can be: target and address. */
export const keys = Object.keys(targets).flatMap((target) =>
  [...addresses.map(({ address }) => address), ...carriers].map((address) => `${target}|${address}`),
)

/** The kernel counts whole seconds, rounded up; a running agent is there on time. */
const kernelRoundingMs = 1_000

/**
 * The invariants of design §1 at one moment, in words: the first that is broken, or null.
 *
 * No door without a live reason past the bound, the agent connected or not; every live reason has its door; what
 * is ordered, and what the agent holds, never ends after the truth; sessions hold the addresses they may.
 * `slowMs`: how much a host without contact since its boot may be behind, by the wall clock it had to believe.
 */
export function brokenPromise(state: {
  reference: ReturnType<typeof createReference>
  looks: ReturnType<typeof createAddressReference>
  agent: ReturnType<typeof createAgent>
  server: ReturnType<typeof createServer>
  now: number
  slowMs: number
}): string | null {
  return state.reference.unlawful() ?? brokenDoor(state) ?? brokenSession(state)
}

function brokenDoor({ reference, agent, server, now, slowMs }: Parameters<typeof brokenPromise>[0]) {
  const isUp = agent.isUp()
  const slackMs = slowMs + (isUp ? 1 : kernelRoundingMs)
  for (const key of keys) {
    const stands = agent.stands(key)
    // Without its agent a list that knows no ends keeps its entries until the agent lives (decision 12).
    const isMinded = isUp || targets[key.split('|')[0] ?? '']?.expiry === 'native'
    if (stands && isMinded && !reference.mayStand(key, now, { slackMs, ruled: isUp }))
      return `${key} stands without a reason`
    if (!stands && reference.mustStand(key, now)) return `${key} is missing`
    const heldEnd = agent.heldEnd(key)
    if (heldEnd > 0 && heldEnd > reference.latestEnd(key, now))
      return `${key} ends later at the agent than in truth`
    const row = server.rows.get(key)
    if (row?.desired === 'open' && row.orderedUntil > Math.max(now, reference.trueEnd(key, now)))
      return `${key} is ordered past its true end`
  }
  return null
}

function brokenSession({ looks, server, now }: Parameters<typeof brokenPromise>[0]): string | null {
  for (let session = 0; session < sessionCount; session++) {
    if (!server.isLive(session)) continue
    const held = heldAddresses(server.held(session)).flatMap(({ address, source }) =>
      source === 'own' ? [address] : [],
    )
    const wrong = looks.check(session, held, now)
    if (wrong) return `session ${session} ${wrong}`
  }
  return null
}
