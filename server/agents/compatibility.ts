import type { Capabilities } from '#machines/protocol.ts'
import { compareVersions } from '#machines/version.ts'
import type { Definition } from '../backends/definitions/definition.ts'
import { apiError } from '../errors.ts'

/**
 * Agents below this version may only close (specification README "Agent offline"); the console shows them in red.
 * 2.0.0 is the first that speaks the link's protocol.
 */
export const minimumRequiredAgentVersion = '2.0.0'

/** Whether an agent of this version may open. One that never told a version isn't linked and can't. */
export const mayOpen = (version: string | null): boolean =>
  version !== null && compareVersions(version, minimumRequiredAgentVersion) >= 0

/** What of an agent decides whether it can do a job. */
export type AgentAbility = { version: string | null; capabilities: Capabilities | null }

/**
 * Refuses what can never work: a version too old for the kind, or a host that lacks its means. An agent that was
 * never connected passes, because nobody knows yet; missing sets are the console's to warn of.
 */
export function checkCapable(definition: Definition, agent: AgentAbility): void {
  const { version, capabilities } = agent
  if (version !== null && compareVersions(version, definition.minAgentVersion) < 0)
    throw apiError('err.agentBackendTypeNotSupported', { extra: definition.minAgentVersion })
  if (version !== null && !mayOpen(version))
    throw apiError('err.agentIncapable', { extra: minimumRequiredAgentVersion })
  if (capabilities !== null) needs[definition.id]?.(capabilities)
}

/** What each kind needs of the agent's host. */
const needs: Partial<Record<string, (capabilities: Capabilities) => void>> = {
  ipset({ ipset }) {
    if (!ipset.command_available) throw apiError('err.ipsetNoCommand')
    if (!ipset.sudo_enabled) throw apiError('err.ipsetNoSudo')
  },
  script({ script }) {
    if (!script.enabled) throw apiError('err.agentIncapable')
  },
}
