import { connect, type Socket } from 'node:net'
import type { HaproxyPlace } from '#server/backends/definitions/haproxy.ts'

/** A question to HAProxy; of a long answer only the lines that `keep` wants are held. */
export type Question = { text: string; keep?: (line: string) => boolean }

/** One connection to a runtime socket, in interactive mode: questions in, the lines of each answer out. */
export type HaproxyConnection = {
  /**
   * Asks all of them in one go and answers in their order.
   *
   * @throws HaproxyFault when the connection breaks or HAProxy does not answer in time; how far it got is unknown.
   */
  ask: (questions: readonly Question[]) => Promise<string[][]>
  close: () => void
}

/** Why there was no answer. */
export class HaproxyFault extends Error {
  readonly reason: 'unreachable' | 'forbidden' | 'gone' | 'timeout' | 'garbage'

  constructor(reason: HaproxyFault['reason'], text: string) {
    super(text)
    this.reason = reason
  }
}

/** Limits on what a socket may cost: milliseconds, bytes. */
export const connectionLimits = {
  connectMs: 2_000,
  /** For each answer, counted from the one before. */
  answerMs: 5_000,
  /** 100,000 addresses are 2.7 MB; 100,000 connections some 40 MB. */
  answerBytes: 67_108_864,
  lineBytes: 65_536,
}

/** The same with other numbers. */
export type ConnectionLimits = typeof connectionLimits

/** What may be written: no `;` and no newline, so that one question stays one command; no quote, no backslash. */
const safeText = /^[A-Za-z0-9_.:/# -]{1,200}$/
const prompt = '> '

type Waiting = {
  question: Question
  lines: string[]
  bytes: number
  resolve: (lines: string[]) => void
  reject: (fault: HaproxyFault) => void
}

/**
 * Connects. `prompt` makes HAProxy keep the connection and end each answer with `> ` at the start of a line, which
 * no line of an answer begins with.
 *
 * @throws HaproxyFault
 */
export async function openHaproxyConnection(
  place: HaproxyPlace,
  { limits = connectionLimits, onEnd = () => {} }: { limits?: ConnectionLimits; onEnd?: () => void } = {},
): Promise<HaproxyConnection> {
  const socket = await connectTo(place, limits.connectMs)
  let waiting: Waiting[] = []
  let ended: HaproxyFault | undefined
  let watchdog: ReturnType<typeof setTimeout> | undefined

  const end = (fault: HaproxyFault) => {
    if (ended !== undefined) return
    ended = fault
    clearTimeout(watchdog)
    socket.destroy()
    const failed = waiting
    waiting = []
    for (const one of failed) one.reject(fault)
    onEnd()
  }

  const watch = () => {
    clearTimeout(watchdog)
    if (waiting.length === 0) return
    watchdog = setTimeout(
      () => end(new HaproxyFault('timeout', 'HAProxy did not answer in time')),
      limits.answerMs,
    )
  }

  const takeLine = (line: string) => {
    const [current] = waiting
    if (current === undefined) return end(new HaproxyFault('garbage', 'the socket says what nobody asked'))
    current.bytes += line.length + 1
    if (current.bytes > limits.answerBytes) {
      return end(new HaproxyFault('garbage', 'the socket’s answer has no end'))
    }
    if (line !== '' && (current.question.keep?.(line) ?? true)) current.lines.push(line)
  }

  const takeEnd = () => {
    const done = waiting.shift()
    if (done === undefined) return end(new HaproxyFault('garbage', 'the socket says what nobody asked'))
    done.resolve(done.lines)
    watch()
  }

  socket.setEncoding('latin1')
  socket.on(
    'data',
    createReader({ takeLine, takeEnd, end, lineBytes: limits.lineBytes, isEnded: () => ended !== undefined }),
  )
  socket.on('error', (error) => end(new HaproxyFault('gone', `the connection broke (${wordOf(error)})`)))
  socket.on('close', () => end(new HaproxyFault('gone', 'HAProxy closed the connection')))

  const ask: HaproxyConnection['ask'] = async (questions) => {
    if (!questions.every(({ text }) => safeText.test(text))) {
      throw new Error('a command for HAProxy holds a character that it must not')
    }
    if (ended !== undefined) throw ended
    const answers = questions.map((question): Promise<string[]> => {
      const { promise, resolve, reject } = Promise.withResolvers<string[]>()
      waiting.push({ question, lines: [], bytes: 0, resolve, reject })
      return promise
    })
    const isFirst = waiting.length === questions.length
    socket.write(questions.map(({ text }) => `${text}\n`).join(''))
    if (isFirst) watch()
    return Promise.all(answers)
  }

  await ask([{ text: 'prompt' }])
  return { ask, close: () => end(new HaproxyFault('gone', 'the connection was closed')) }
}

/** Cuts what comes into lines and prompts, whatever pieces it comes in. */
function createReader(parts: {
  takeLine: (line: string) => void
  takeEnd: () => void
  end: (fault: HaproxyFault) => void
  isEnded: () => boolean
  lineBytes: number
}): (chunk: string) => void {
  let rest = ''
  // What follows a prompt in the same line belongs to the next answer.
  let isLineStart = false
  return (chunk) => {
    rest += chunk
    let at = 0
    while (!parts.isEnded()) {
      if (isLineStart && rest.startsWith(prompt, at)) {
        at += prompt.length
        isLineStart = false
        parts.takeEnd()
        continue
      }
      const newline = rest.indexOf('\n', at)
      if (newline < 0) break
      parts.takeLine(rest.slice(at, newline))
      at = newline + 1
      isLineStart = true
    }
    rest = rest.slice(at)
    if (rest.length > parts.lineBytes) parts.end(new HaproxyFault('garbage', 'a line without an end'))
  }
}

function connectTo(place: HaproxyPlace, withinMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let socket: Socket | undefined
    const fail = (fault: HaproxyFault) => {
      clearTimeout(timer)
      socket?.destroy()
      reject(fault)
    }
    const timer = setTimeout(
      () => fail(new HaproxyFault('unreachable', 'the socket did not take the connection in time')),
      withinMs,
    )
    try {
      socket = connect(place)
    } catch (error) {
      return fail(toConnectFault(error))
    }
    const made = socket
    made.once('error', (error) => fail(toConnectFault(error)))
    made.once('connect', () => {
      clearTimeout(timer)
      made.removeAllListeners('error')
      resolve(made)
    })
  })
}

function toConnectFault(error: unknown): HaproxyFault {
  const isForbidden = error instanceof Error && /^(?:NotCapable|PermissionDenied)$/.test(error.name)
  const word = wordOf(error)
  return isForbidden || word === 'EACCES' || word === 'EPERM'
    ? new HaproxyFault('forbidden', 'the agent may not open this socket')
    : new HaproxyFault('unreachable', `HAProxy’s socket cannot be reached (${word})`)
}

const wordOf = (error: unknown): string => {
  const { code, name } = error as NodeJS.ErrnoException
  return code ?? name
}
