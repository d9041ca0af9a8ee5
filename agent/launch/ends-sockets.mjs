// Plain Node: the agent itself may not listen or connect as it likes.

import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'

const triedWithinMs = 1_000
const noticedWithinMs = 200

/**
 * Whether `ss -K` ends sockets here, tried on one of our own, as a kernel that can't says nothing: `yes`, `no`, or
 * undefined when it could not be tried. `ss` is its path, undefined where it isn't installed.
 */
export async function triesToEndSocket(ss) {
  if (ss === undefined) return 'no'
  const server = createServer((socket) => socket.on('error', () => {}))
  try {
    return await inTime(() => endOneOf(server, ss))
  } catch {
    return undefined
  } finally {
    server.close()
  }
}

async function endOneOf(server, ss) {
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.removeAllListeners('error')
  const ended = new Promise((resolve) => socket.once('error', () => resolve('yes')))
  const filter = `dst 127.0.0.1 and dport = :${port} and sport = :${socket.localPort}`
  const program = spawn(ss, ['-tnHK', 'state', 'connected', filter], { stdio: 'ignore', env: {} })
  const said = new Promise((resolve) => program.on('error', resolve).on('exit', resolve))
  const late = said.then(() => new Promise((resolve) => setTimeout(resolve, noticedWithinMs, 'no')))
  const answer = await Promise.race([ended, late])
  socket.destroy()
  return answer
}

async function inTime(act) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), triedWithinMs)
  })
  return Promise.race([act(), late]).finally(() => clearTimeout(timer))
}
