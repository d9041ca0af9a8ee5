import type { Capabilities } from '#machines/protocol.ts'
import { compareVersions } from '#machines/version.ts'
import { type BackendId, definitions } from '#server/backends/definitions/index.ts'

/** A kind of knoc that this console shows and edits. */
export type KnocType = {
  /** Its backend's type, the one key of `Config`. */
  backend: BackendId
  /** Translation keys below `knocType.<key>`. */
  key: 'LINUX' | 'PROXY'
  /** Page of the documentation, below /docs/. */
  docs: string
  /** What an agent must report to be offered. Console §5. */
  isCapable: (capabilities: Capabilities) => boolean
}

/** One that has a wizard. Another is another row here, in the chooser and in the wizard's table. */
export type KnocWizardType = KnocType & {
  /** The wizard's address. */
  path: string
}

/** Every kind that can be made here, in the chooser's order. */
export const knocTypes = [
  {
    backend: 'ipset',
    key: 'LINUX',
    path: '/admin/knocs/new/linux',
    docs: '/docs/ipset',
    isCapable: ({ ipset }) => ipset.command_available && ipset.sudo_enabled,
  },
] as const satisfies readonly KnocWizardType[]

/** Kinds that are made by the API. */
const otherTypes = [
  { backend: 'haproxy', key: 'PROXY', docs: '/docs/haproxy', isCapable: ({ haproxy }) => haproxy !== null },
] as const satisfies readonly KnocType[]

/** The kind of a knoc by its backend's type; undefined for kinds that this console can't show in full. */
export const findKnocType = (backendType: string): KnocType | undefined =>
  [...knocTypes, ...otherTypes].find(({ backend }) => backend === backendType)

/**
 * Whether an agent may be chosen: it reports what the kind needs, and its version (no version passes) is one that
 * knows the kind and that the server still lets open. Console §5.
 */
export const isAgentCapable = (
  agent: { Version: string | null; Capabilities: Capabilities | null },
  type: KnocType,
  minimumVersion: string,
): boolean =>
  agent.Capabilities !== null &&
  type.isCapable(agent.Capabilities) &&
  [definitions[type.backend].minAgentVersion, minimumVersion].every(
    (minimum) => agent.Version === null || compareVersions(agent.Version, minimum) >= 0,
  )

/** The one agent that can be meant when just one is capable; undefined when there is a choice to make. */
export function findOnlyCapable<Agent extends Parameters<typeof isAgentCapable>[0]>(
  agents: readonly Agent[],
  type: KnocType,
  minimumVersion: string,
): Agent | undefined {
  const capable = agents.filter((agent) => isAgentCapable(agent, type, minimumVersion))
  return capable.length === 1 ? capable[0] : undefined
}
