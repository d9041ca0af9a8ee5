import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { panosKey, startFakePanos } from '#tests/support/fake-panos.ts'
import { ipsetTarget, until } from './builders.ts'
import { withSecret } from './seal.ts'
import { startWireServer } from './wire-server.ts'

/**
 * To be run inside a test's namespace: starts `knoc-agent run` as a customer would, names a device to it, has its list
 * refreshed, stops it with SIGTERM, and prints what happened as JSON. Arguments: the launcher's path, the data folder.
 */
const [launcher = '', dataFolder = ''] = process.argv.slice(2)
const token = 'a-token-of-more-than-twenty-characters'
const server = await startWireServer({ token })
const panos = await startFakePanos({
  lists: [{ name: 'jit', fetch: async () => ({ status: 200, text: '' }) }],
})
writeFileSync(`${dataFolder}/ca.pem`, panos.authority)
const child = spawn(
  launcher,
  ['run', '--server', server.url.href, '--data', dataFolder, '--ca', `${dataFolder}/ca.pem`],
  { env: { ...process.env, KNOC_AGENT_TOKEN: token }, stdio: ['ignore', 'ignore', 'pipe'] },
)
let said = ''
child.stderr.on('data', (chunk) => {
  said += String(chunk)
})
const hellos = () => server.ofType('hello').length
const answers = () => server.ofType('refreshed').map(({ error }) => error?.code ?? null)
let fault: string | undefined
try {
  await until('a hello', () => hellos() === 1, 20_000)
  const list = withSecret(
    ipsetTarget('', 4, {
      type: 'panos',
      family: null,
      key: 'panos:jit',
      backend: { Hostname: panos.hostname, VSys: 'vsys1', Insecure: false },
      list: { EDLName: 'jit' },
    }),
    { name: 'ApiKey', value: panosKey, agentId: server.agentId, sealingKey: server.sealingKey() },
  )
  server.targets.push(list)
  server.send({ type: 'targets', targets: [list] })
  server.send({ type: 'refresh', targetId: list.id, generation: 1 })
  await until('an answer', () => answers().length === 1)
  await until('a second start', () => hellos() === 2, 20_000)
  server.send({ type: 'refresh', targetId: list.id, generation: 1 })
  await until('a second answer', () => answers().length === 2, 20_000)
} catch (error) {
  fault = String(error)
}
// Not child.kill: Deno then reports an exit that has not happened yet.
process.kill(child.pid ?? 0, 'SIGTERM')
const [code, signal] = await once(child, 'exit')
const seen = { fault, answers: answers(), calls: panos.calls.length, hellos: hellos(), code, signal, said }
process.stdout.write(`${JSON.stringify(seen)}\n`)
process.exit(0)
