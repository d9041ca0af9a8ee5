import { allowlist } from './allowlist.ts'
import { haproxy } from './haproxy.ts'
import { ipset } from './ipset.ts'
import { panos } from './panos.ts'
import { script } from './script.ts'

/** Every kind of enforcement point, by the key that names it in `Config`. To add one: copy ipset.ts, add a line. */
export const definitions = { allowlist, ipset, haproxy, script, panos } as const

export type BackendId = keyof typeof definitions

/** Whether a text names a kind of enforcement point. */
export const isBackendId = (text: string): text is BackendId => Object.hasOwn(definitions, text)

/** The kinds that an agent drives: each has a driver there. */
export type AgentBackendId = {
  [Id in BackendId]: (typeof definitions)[Id]['needsAgent'] extends true ? Id : never
}[BackendId]

/** Whether a stored type is a list that firewalls fetch by themselves: nothing is ordered, what was read is what stands. */
export const isPassiveType = (type: string | null): boolean =>
  type !== null && isBackendId(type) && !definitions[type].needsAgent

/** Whether a text names a kind that an agent drives. */
export const isAgentBackendId = (text: string): text is AgentBackendId =>
  isBackendId(text) && definitions[text].needsAgent
