import { performance } from 'node:perf_hooks'
import { type HaproxyPlace, placeText } from '#server/backends/definitions/haproxy.ts'
import {
  type ConnectionLimits,
  connectionLimits,
  type HaproxyConnection,
  HaproxyFault,
  openHaproxyConnection,
  type Question,
} from './haproxy-connection.ts'

/** One runtime socket, for all lists behind it: a connection that is kept open and made anew. */
export type HaproxySocket = {
  /**
   * Asks the HAProxy that serves now, not one that a reload has left to finish its connections; once more if the
   * connection broke, so everything must be such that it may be asked twice.
   *
   * @throws HaproxyFault
   */
  ask: (questions: readonly Question[]) => Promise<string[][]>
  /** Lends a connection of its own, for answers that others should not wait behind. @throws HaproxyFault */
  apart: <Value>(act: (connection: HaproxyConnection) => Promise<Value>) => Promise<Value>
  /** Connections to processes that reloads have left behind, as long as those have connections of others. */
  formers: () => HaproxyConnection[]
  /** Who is told when another process serves the socket: what was put there is gone. One for each ACL. */
  onReplaced: (aclId: number, listener: () => void) => void
  /** Notes an ACL that this agent looks after; `lists` are those of the last minutes. */
  note: (aclId: number) => void
  lists: () => number[]
}

/** The sockets of this host, each made when it is first needed. */
export type HaproxySockets = {
  at: (place: HaproxyPlace) => HaproxySocket
  stop: () => void
}

/** Milliseconds. */
const times = {
  /** A reload does not break connections: the old process keeps them. Asking tells; it also keeps ours from idling out. */
  lookEveryMs: 1_000,
  /** While there is no connection: how soon a HAProxy that is back is found. */
  lookForEveryMs: 250,
  /** A socket that nobody used for so long is left alone. */
  unusedMs: 60_000,
  listKeptMs: 600_000,
} as const

/** Processes of earlier reloads that are kept in reach at most. */
const formersAtMost = 8

/** Builds them; `limits` are shortened in tests. */
export function createHaproxySockets({ limits = connectionLimits } = {}): HaproxySockets {
  const sockets = new Map<string, ReturnType<typeof createSocket>>()
  return {
    at: (place) => {
      const key = placeText(place)
      const socket = sockets.get(key) ?? createSocket(place, limits)
      sockets.set(key, socket)
      return socket
    },
    stop: () => {
      for (const socket of sockets.values()) socket.stop()
    },
  }
}

function createSocket(place: HaproxyPlace, limits: ConnectionLimits): HaproxySocket & { stop: () => void } {
  const listeners = new Map<number, () => void>()
  const lists = new Map<number, number>()
  const formers = new Set<HaproxyConnection>()
  let current: HaproxyConnection | undefined
  let opening: Promise<HaproxyConnection> | undefined
  let served: string | undefined
  let usedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false

  const open = async (): Promise<HaproxyConnection> => {
    let opened: HaproxyConnection | undefined
    opened = await openHaproxyConnection(place, {
      limits,
      onEnd: () => {
        if (current === opened) current = undefined
        if (opened !== undefined) formers.delete(opened)
        keepLooking()
      },
    })
    const identity = await readIdentity(opened)
    current = opened
    if (isStopped) opened.close()
    if (served !== undefined && served !== identity) for (const tell of listeners.values()) setImmediate(tell)
    served = identity
    return opened
  }

  const connection = async (): Promise<HaproxyConnection> => {
    if (isStopped) throw new HaproxyFault('gone', 'the agent is stopping')
    if (current !== undefined) return current
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }

  const askOnce = async (questions: readonly Question[]): Promise<string[][] | undefined> => {
    const asked = await connection()
    const answers = await asked.ask([...questions, whoAnswers])
    if (!readInfo(answers.at(-1) ?? []).isStopping) return answers.slice(0, -1)
    leave(asked)
    return undefined
  }

  /** The connections it has stay with the old process, and only by this one can they be ended. */
  const leave = (asked: HaproxyConnection) => {
    if (current === asked) current = undefined
    formers.add(asked)
    const [oldest] = formers
    if (formers.size > formersAtMost) oldest?.close()
  }

  /** Lets go of an old process that nobody is connected to any more, which it waits for. */
  const lookAtFormer = async (former: HaproxyConnection) => {
    const [info = []] = await former.ask([
      { text: 'show info', keep: (line) => line.startsWith('CurrConns: ') },
    ])
    if (info.join() === 'CurrConns: 0') former.close()
  }

  const ask: HaproxySocket['ask'] = async (questions) => {
    usedAt = performance.now()
    keepLooking()
    return askTwice(questions)
  }

  const askTwice: HaproxySocket['ask'] = async (questions) => {
    const first = await askOnce(questions).catch((error: unknown) => {
      if (error instanceof HaproxyFault && error.reason === 'gone') return undefined
      throw error
    })
    const answers = first ?? (await askOnce(questions))
    if (answers === undefined) throw new HaproxyFault('gone', 'HAProxy is stopping')
    return answers
  }

  /** Looks who serves the socket, as long as it is in use. */
  const keepLooking = () => {
    if (isStopped || timer !== undefined) return
    timer = setTimeout(
      () => {
        timer = undefined
        if (performance.now() - usedAt > times.unusedMs) return closeAll()
        // What is wrong is told to whoever asks for something.
        void Promise.allSettled([askTwice([]), ...Array.from(formers, lookAtFormer)]).then(keepLooking)
      },
      current === undefined ? times.lookForEveryMs : times.lookEveryMs,
    )
  }

  const closeAll = () => {
    current?.close()
    for (const former of formers) former.close()
  }

  return {
    ask,
    formers: () => [...formers],
    apart: async (act) => {
      const lent = await openHaproxyConnection(place, { limits })
      try {
        return await act(lent)
      } finally {
        lent.close()
      }
    },
    onReplaced: (aclId, listener) => void listeners.set(aclId, listener),
    note: (aclId) => void lists.set(aclId, performance.now()),
    lists: () =>
      [...lists].filter(([, at]) => performance.now() - at < times.listKeptMs).map(([aclId]) => aclId),
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      closeAll()
    },
  }
}

/** Which process answers, and whether a newer one has taken its place. */
const whoAnswers: Question = {
  text: 'show info',
  keep: (line) => /^(?:Pid|Start_time_sec|Stopping): /.test(line),
}

async function readIdentity(opened: HaproxyConnection): Promise<string> {
  try {
    const [info = []] = await opened.ask([whoAnswers])
    return readInfo(info).identity
  } catch (error) {
    opened.close()
    throw error
  }
}

function readInfo(lines: readonly string[]): { identity: string; isStopping: boolean } {
  const read = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const pid = read('Pid')
  if (pid === undefined) throw new HaproxyFault('garbage', 'this is no runtime socket of HAProxy')
  return {
    identity: `${pid}/${read('Start_time_sec') ?? ''}`,
    isStopping: (read('Stopping') ?? '0') !== '0',
  }
}
