import type { Capabilities } from '#machines/protocol.ts'

/** What an agent can do, in the words of its kinds: those that are ready for use. */
export const capabilityNames = (capabilities: Capabilities | null): string[] =>
  capabilities === null
    ? []
    : [
        ...(capabilities.ipset.command_available && capabilities.ipset.sudo_enabled ? ['ipset'] : []),
        ...(capabilities.haproxy ? ['HAProxy'] : []),
        ...(capabilities.script.enabled ? ['script'] : []),
      ]
