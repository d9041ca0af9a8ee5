import { connect, type Socket } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { EyesCall, EyesWord, Sight, Watched } from './eyes.ts'

/** Runs inside a namespace outside of a host, and looks at its doors. See eyes.ts. */
const connectMs = 1_500
/** Every other stream talks; the others are quiet, but not for so long that somebody's idle time ends them. */
const talkEveryMs = { talking: 100, quiet: 15_000 } as const

/** Doors through which a connection is kept. */
const streaming = new Set<number>()
let streams = 0

for await (const line of createInterface({ input: process.stdin })) {
  const { id, call } = JSON.parse(line) as { id: number; call: EyesCall }
  watch(call.doors, call.everyMs)
  process.stdout.write(`${JSON.stringify({ id })}\n`)
}
process.exit(0)

function tell(word: EyesWord): void {
  process.stdout.write(`${JSON.stringify(word)}\n`)
}

/** Tries each door from each address, over and over; what is seen is told in rounds. */
function watch(doors: readonly Watched[], everyMs: number): void {
  let isLooking = false
  setInterval(() => {
    // A machine that is behind with one round doesn't begin another.
    if (isLooking) return
    isLooking = true
    void Promise.all(doors.map(look)).then((sights) => {
      isLooking = false
      tell({ sights })
    })
  }, everyMs)
}

function look({ host, port, from, keepsStream }: Watched, index: number): Promise<Sight> {
  const startedAt = Date.now()
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: from })
    const end = (state: Sight[3]) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      if (state !== 'open') socket.destroy()
      else if (keepsStream && !streaming.has(index)) keep(socket, index)
      else socket.resetAndDestroy()
      resolve([index, startedAt, Date.now(), state])
    }
    const timer = setTimeout(() => end('silent'), connectMs)
    socket.once('data', () => end('open'))
    // HAProxy takes a connection before it turns it away, without a word.
    socket.once('close', () => end('refused'))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET' ? 'refused' : 'silent'),
    )
  })
}

/** Holds a connection until somebody ends it. */
function keep(socket: Socket, index: number): void {
  const openedAt = Date.now()
  const stream = (streams += 1)
  streaming.add(index)
  const say = () => socket.write('still here\n')
  const talking = setInterval(say, stream % 2 === 0 ? talkEveryMs.talking : talkEveryMs.quiet)
  socket.on('data', () => undefined)
  socket.once('close', () => {
    clearInterval(talking)
    streaming.delete(index)
    tell({ stream: [stream, index, openedAt, Date.now()] })
  })
  tell({ stream: [stream, index, openedAt, null] })
}
