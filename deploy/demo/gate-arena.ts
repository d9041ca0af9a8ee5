import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findDeno } from '../deno.mjs'
import type { Arena } from './arena.ts'
import { start } from './run.ts'

const here = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))

const loopback = '127.0.0.1'
const scriptName = 'gate-script.sh'

/**
 * The same journey without root: a script backend that writes down who may, and a small gate in user space that
 * reads it. Everything is on loopback, which only this arrangement may grant.
 */
export async function openGateArena(folder: string): Promise<Arena> {
  const [serverPort, doorPort] = [await freePort(), await freePort()]
  const list = join(folder, 'door-list')
  const scripts = join(folder, 'scripts')
  const agentData = join(folder, 'agent')
  await mkdir(scripts, { recursive: true })
  await mkdir(agentData, { recursive: true, mode: 0o700 })
  await copyFile(here(scriptName), join(scripts, scriptName))
  await chmod(join(scripts, scriptName), 0o755)
  await writeFile(
    join(agentData, 'agent.json'),
    JSON.stringify({ scripts: true, scriptFolder: scripts, scriptSeconds: 5 }),
  )
  const gate = start(
    [
      ...[findDeno(), 'run', '--quiet', '--allow-net', '--allow-env', `--allow-read=${list}`],
      ...[here('gate.ts'), loopback, String(doorPort), list],
    ],
    { env: {}, onLine: () => undefined },
  )
  const serverUrl = `http://${loopback}:${serverPort}`
  return {
    kind: 'gate',
    description:
      'a script backend and a small gate in user space (the kernel needs root, ipset and iptables)',
    host: loopback,
    serverUrl,
    doorUrl: `http://${loopback}:${doorPort}/`,
    place: (command) => command,
    serverEnv: { KNOC_GRANT_LOOPBACK: 'true' },
    agentEnv: {},
    knoc: {
      backend: {
        script: { Command: scriptName, EnvVars: [{ Name: 'DOOR_LIST', Sensitive: false }] },
      },
      acl: { script: { Name: 'demo-door', EnvVars: { DOOR_LIST: { Value: list, Encrypted: false } } } },
    },
    close: () => gate.stop(),
  }
}

/** A port that nobody listens on at this moment. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, loopback, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
