import type { Kysely } from 'kysely'
import { createGateway } from '#server/gateway/create-gateway.ts'
import type { DB } from '#server/platform/database.types.ts'
import { createLog } from '#server/platform/log.ts'

/** A replica's gateway that has nobody to tell: no events, no jobs, no metrics. `over` listens to what it is about. */
export const aQuietGateway = (
  db: Kysely<DB>,
  { replica = 'here', ...over }: Partial<Parameters<typeof createGateway>[0]> = {},
) =>
  createGateway({
    db,
    events: { publish: () => undefined },
    log: createLog({ logLevel: 'silent', replica }),
    metrics: { settled: () => undefined, drifted: () => undefined },
    replica,
    hostName: 'here',
    serverVersion: '2.0.0',
    neededVersion: () => null,
    addJob: async () => true,
    onConflict: async () => undefined,
    ...over,
  })

/** What an agent says first, of a host that can do nothing. */
export const aHello = (over: Record<string, unknown> = {}) => ({
  type: 'hello',
  protocol: { min: 1, max: 1 },
  version: '2.0.0',
  machineId: 'machine',
  bootId: 'boot',
  nowMs: Date.now(),
  epoch: null,
  highestGeneration: 0,
  capabilities: {
    'os-release': null,
    ipset: { command_available: false, sudo_enabled: false, privilege: 'none', ipsets: [] },
    haproxy: null,
    script: { enabled: false, commands: [] },
  },
  ...over,
})
