import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { anOrder, ipsetTarget, until } from './builders.ts'
import { startWireServer } from './wire-server.ts'

/**
 * To be run inside a test's namespace: starts `knoc-agent run` as a customer would, opens and closes a door, stops it
 * with SIGTERM, and prints what happened as JSON. Arguments: the launcher's path, the data folder.
 */
const [launcher = '', dataFolder = ''] = process.argv.slice(2)
const token = 'a-token-of-more-than-twenty-characters'
const server = await startWireServer({ token })
const four = ipsetTarget('four', 4)
const script = ipsetTarget('', 4, {
  type: 'script',
  family: null,
  key: 'script:door',
  backend: { Command: 'door', EnvVars: [] },
  list: { Name: 'ssh', EnvVars: {} },
})
server.targets.push(four, script)
// By its own first line: Deno would put itself in the place of a program called node.
const child = spawn(launcher, ['run', '--server', server.url.href, '--data', dataFolder], {
  env: { ...process.env, KNOC_AGENT_TOKEN: token },
  stdio: ['ignore', 'ignore', 'pipe'],
})
let said = ''
child.stderr.on('data', (chunk) => {
  said += String(chunk)
})
const outcomes: unknown[] = []
try {
  await until('a hello', () => server.ofType('hello').length > 0, 20_000)
  const orders = [
    anOrder(four, '192.0.2.7', 1, Date.now() + 60_000),
    anOrder(script, '192.0.2.7', 2, Date.now() + 60_000),
    anOrder(four, '192.0.2.8', 3, Date.now() + 60_000),
    anOrder(four, '192.0.2.8', 4, 0),
  ]
  for (const order of orders) {
    server.order(order)
    await until('a result', () => server.resultOf(order) !== undefined, 10_000)
    outcomes.push(server.resultOf(order)?.outcome, server.resultOf(order)?.error)
  }
} catch (error) {
  outcomes.push(String(error))
}
// Not child.kill: Deno then reports an exit that has not happened yet.
process.kill(child.pid ?? 0, 'SIGTERM')
const [code, signal] = await once(child, 'exit')
process.stdout.write(
  `${JSON.stringify({ outcomes, code, signal, said, hello: server.ofType('hello')[0] })}\n`,
)
process.exit(0)
