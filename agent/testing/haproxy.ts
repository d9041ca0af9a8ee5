import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TargetDescription } from '#machines/protocol.ts'
import { findProgram } from '#tests/support/debian.ts'
import { freePorts } from '#tests/support/free-ports.ts'
import { startProgram, type TestProcess } from '#tests/support/process.ts'
import { until } from '#tests/support/until.ts'

/** Numbers of the ACLs in a test's HAProxy. `words` is one that holds no addresses. */
export const acls = { tcp: 7, http: 8, words: 9, none: 99 } as const

/** A real HAProxy with doors behind ACLs and a service behind it. */
export type TestHaproxy = Awaited<ReturnType<typeof aHaproxyWithService>>

/**
 * Starts HAProxy: on `tcpPort` a door for connections behind ACL #7, which also has what stands in `statics`; on
 * `httpPort` one for requests behind #8. Both lead to `serverPort`. Call `remove` when done.
 */
export async function aHaproxy({
  tcpPort,
  httpPort,
  statsPort,
  serverPort,
  statics = [],
  level = 'admin',
  place = (command) => command,
}: {
  tcpPort: number
  httpPort: number
  statsPort: number
  serverPort: number
  statics?: readonly string[]
  level?: 'admin' | 'operator' | 'user'
  place?: (command: readonly string[]) => readonly string[]
}) {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-haproxy-'))
  const socket = join(folder, 'haproxy.sock')
  const config = join(folder, 'haproxy.cfg')
  writeFileSync(
    config,
    `global
  log stderr format raw local0 emerg
  stats socket ${socket} mode 600 level ${level} expose-fd listeners
  stats socket ipv4@127.0.0.1:${statsPort} level ${level}
  hard-stop-after 60s
defaults
  mode tcp
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend door
  bind :::${tcpPort} v4v6
  acl knoc src -u ${acls.tcp} ${statics.length === 0 ? '' : statics.join(' ')}
  tcp-request connection reject if !knoc
  default_backend service
frontend web
  mode http
  bind :::${httpPort} v4v6
  acl words path -u ${acls.words} /nothing
  http-request deny deny_status 403 if words
  http-request deny deny_status 403 unless { src -u ${acls.http} }
  default_backend site
backend service
  server s1 127.0.0.1:${serverPort}
backend site
  mode http
  server s1 127.0.0.1:${serverPort}
`,
  )
  let running: TestProcess | undefined

  /** Says one command on a connection of its own; all that comes back. */
  const say = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = connect({ path: socket })
      let heard = ''
      asked.on('data', (data) => {
        heard += String(data)
      })
      asked.on('error', reject)
      asked.on('close', () => resolve(heard))
      asked.write(`${command}\n`)
    })
  const isUp = () =>
    say('show info').then(
      (text) => text.includes('Stopping: 0'),
      () => false,
    )

  /** Starts it with a master, which reloads when it is told to. */
  const start = async () => {
    running = startProgram(place([findProgram('haproxy') ?? 'haproxy', '-W', '-f', config]), {})
    await until('HAProxy is up', isUp)
  }
  const kill = async () => {
    await running?.kill()
    running = undefined
  }
  await start()

  return {
    folder,
    socket,
    tcp: `127.0.0.1:${statsPort}`,
    say,
    /** What stands in an ACL, as HAProxy writes it. */
    entries: async (id: number): Promise<string[]> =>
      Array.from((await say(`show acl #${id}`)).matchAll(/^0x[0-9a-f]+ (.*)$/gm), ([, text = '']) => text),
    start,
    /** SIGKILL, as when it crashes: runtime entries are gone. */
    kill,
    restart: async () => {
      await kill()
      await start()
    },
    /** A new process takes the sockets over; the old one keeps the connections it has. */
    reload: async () => {
      const before = pidOf(await say('show info'))
      const isReloaded = async () => (await isUp()) && pidOf(await say('show info')) !== before
      const tell = () => running !== undefined && process.kill(running.pid, 'SIGUSR2')
      tell()
      // A master that is still busy with the last reload does not hear the next.
      const again = setInterval(tell, 2_000)
      await until('HAProxy was reloaded', isReloaded).finally(() => clearInterval(again))
    },
    /** Processes that serve or finish what they have; the master is none of them. */
    workers: (): number => {
      const children = readFileSync(`/proc/${running?.pid}/task/${running?.pid}/children`, 'utf8')
      return children.trim().split(' ').length
    },
    remove: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const pidOf = (info: string): string => /^Pid: (\d+)$/m.exec(info)?.[1] ?? ''

/**
 * A HAProxy on loopback before a service of its own, which greets whoever writes; to HTTP it answers, and to
 * `/slow` without an end.
 */
export async function aHaproxyWithService(
  over: { statics?: readonly string[]; level?: 'admin' | 'operator' | 'user' } = {},
) {
  const [tcpPort = 0, httpPort = 0, statsPort = 0, serverPort = 0] = await freePorts(4)
  const web = createHttpServer((asked, answer) => {
    answer.write('hello\n')
    if (asked.url !== '/slow') answer.end()
  })
  const open = new Set<Socket>()
  const service = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', (first) => {
      if (!String(first).includes('HTTP/1.1')) return socket.write('hello\n')
      web.emit('connection', socket)
      return socket.unshift(first)
    })
  })
  await new Promise<void>((resolve) => service.listen(serverPort, '127.0.0.1', resolve))
  const haproxy = await aHaproxy({ tcpPort, httpPort, statsPort, serverPort, ...over })
  return {
    ...haproxy,
    tcpPort,
    httpPort,
    remove: async () => {
      for (const socket of open) socket.destroy()
      service.close()
      await haproxy.remove()
    },
  }
}

/** A target that is one ACL behind a runtime socket. */
export const haproxyTarget = (
  address: string,
  id: number,
  over: Partial<TargetDescription> = {},
): TargetDescription => ({
  id: randomUUID(),
  key: `haproxy:agent:${address}:${id}`,
  type: 'haproxy',
  family: null,
  backendId: randomUUID(),
  backend: { Protocol: address.startsWith('/') ? 'unix' : 'tcp', Address: address },
  list: { ID: id },
  sealed: {},
  foreignEntries: 'report',
  ...over,
})

/** A socket that only looks like HAProxy's: `behave` gets each connection. */
export async function aFakeSocket(
  behave: (socket: Socket) => void,
): Promise<{ path: string; stop: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-fake-'))
  const path = join(folder, 'haproxy.sock')
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    behave(socket)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    path,
    stop: () => {
      for (const socket of open) socket.destroy()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
