import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Secret } from '#server/platform/secret.ts'
import { findProgram, requireProgram } from './debian.ts'
import { hasContainerEngine, redisContainer } from './redis-container.ts'

/** A Redis of one test's own, to be stopped and started at will. It keeps nothing: nudges may be lost. */
export interface TestRedis {
  url: Secret
  start: () => Promise<void>
  /** Ends it, without waiting for what it does. */
  stop: () => Promise<void>
}

/** Whether there can be a Redis here: the program, or a container engine; without either it says so loudly. */
export async function canRunRedis(): Promise<boolean> {
  return (
    findProgram('redis-server') !== undefined ||
    (await hasContainerEngine()) ||
    requireProgram('redis-server')
  )
}

/** Starts a private Redis on loopback; ask {@link canRunRedis} first. */
export async function testRedis(): Promise<TestRedis> {
  const port = await freePort()
  const program = findProgram('redis-server')
  const { start: launch, end } = program === undefined ? redisContainer(port) : redisProgram(program, port)

  async function start(): Promise<void> {
    await launch()
    for (let waited = 0; !(await answers(port)); waited += 20) {
      if (waited > 10_000) throw new Error('Redis does not start')
      await wait(20)
    }
  }

  await start()
  return { url: new Secret(`redis://127.0.0.1:${port}`), start, stop: end }
}

/** A TCP port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function redisProgram(program: string, port: number) {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  let child: ChildProcess | undefined
  return {
    start: () => {
      child = spawn(program, args, { stdio: 'ignore' })
      return Promise.resolve()
    },
    end: async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Whether Redis is there and done with loading. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [answer] = await once(socket, 'data')
    return String(answer).startsWith('+PONG')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
