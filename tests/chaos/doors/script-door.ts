import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DoorKind, setsOf } from './door-kind.ts'
import { standingIn } from './ipset-door.ts'

const command = 'door'

/** Gets the action, the list's name and the address; its sets have no ends, and nobody looks into them. */
const script = `#!/bin/sh
set -eu
case "$1 \${3-}" in
  flush*) ipset flush "\${2}4"; ipset flush "\${2}6" ;;
  *:*) ipset "$1" "\${2}6" "$3" -exist ;;
  *) ipset "$1" "\${2}4" "$3" -exist ;;
esac
`

/**
 * A command of the agent's script folder that opens and closes by its own means. What it did is reported, never
 * verified: an entry that somebody takes away is not missed, and one that was left is not found.
 */
export const scriptDoor: DoorKind = {
  share: 2,
  families: [4, 6],
  endsBy: 'agent',
  canCut: false,
  backMs: 0,
  build: async (host, plan) => {
    const sets = setsOf(plan)
    await host.door(plan.port, sets)
    const folder = join(host.folder, `scripts-${plan.id}`)
    mkdirSync(folder, { mode: 0o755 })
    writeFileSync(join(folder, command), script, { mode: 0o755 })
    return {
      config: {
        backend: { script: { Command: command, EnvVars: [] } },
        acl: { script: { Name: plan.id, EnvVars: {} } },
      },
      agentFile: { scripts: true, scriptFolder: folder },
      standing: () => standingIn(host, Object.values(sets)),
      // What it wrote outlasts the boot: only the agent can clear it away.
      boot: async () => undefined,
      close: async () => undefined,
    }
  },
}
