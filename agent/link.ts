import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { createActor, fromPromise } from 'xstate'
import { agentLinkMachine, backOffMs } from '#machines/agent-link.machine.ts'
import {
  type AgentFrame,
  closeCodes,
  linkLimits,
  type ServerFrame,
  serverFrameSchema,
} from '#machines/protocol.ts'
import { authenticate, enrol } from './enrol.ts'
import type { Identity } from './identity.ts'
import type { AgentLog } from './log.ts'
import { errorCodeOf } from './server-api.ts'

/** The agent's link to its server, kept up for as long as the agent runs. */
export type Link = {
  start: () => void
  /** Ends the link for good. */
  stop: () => Promise<void>
  /** False when there is no link: the server asks again for what it needs to know. */
  send: (frame: AgentFrame) => boolean
  /** Whether what can wait may be sent now: the link has little left to bring out. */
  hasRoom: () => boolean
  isLinked: () => boolean
}

/** What an upgrade or challenge that is refused means, as the close code of the same meaning. */
const refusals: Readonly<Record<string, number>> = {
  'err.agentUnknown': closeCodes.unknownAgent,
  'err.agentConflict': closeCodes.conflict,
  'err.unsupportedProtocol': closeCodes.unsupportedProtocol,
}

const abnormal = 1006
const upgradeWithinMs = 10_000

/** Builds the link; `agentLinkMachine` decides, this carries out. */
export function createLink(deps: {
  server: URL
  ca: string | undefined
  identity: Identity
  token: string | undefined
  version: string
  hello: () => AgentFrame
  onFrame: (frame: ServerFrame) => void
  onState: (state: string) => void
  closeEverything: () => void
  random: () => number
  now: () => number
  log: AgentLog
}): Link {
  const sockets = new Map<number, WebSocket>()
  const dropped = new Set<number>()
  let lastFault = ''

  const open = async (linkId: number) => {
    try {
      const answer = await authenticate(deps)
      if ('err' in answer) closed(linkId, refused(answer.err))
      else if (!dropped.has(linkId)) connect(linkId, answer.headers)
    } catch (error) {
      noteFault(error)
      closed(linkId, abnormal)
    }
  }

  const refused = (err: string): number => {
    noteFault(`the server answered ${err}`)
    return refusals[err] ?? abnormal
  }

  const connect = (linkId: number, headers: Record<string, string>) => {
    const url = new URL('/api/agent/link', deps.server)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      maxPayload: linkLimits.frameBytes,
      handshakeTimeout: upgradeWithinMs,
      ...(deps.ca === undefined ? {} : { ca: deps.ca }),
    })
    sockets.set(linkId, socket)
    let beat: ReturnType<typeof setInterval> | undefined
    socket.on('open', () => {
      socket.send(JSON.stringify(deps.hello()))
      beat = setInterval(
        () => sendOn(socket, { type: 'heartbeat', nowMs: deps.now() }),
        linkLimits.heartbeatMs,
      )
    })
    socket.on('message', (data, isBinary) => {
      if (isBinary || !Buffer.isBuffer(data) || !take(linkId, data.toString('utf8')))
        socket.close(closeCodes.badFrame, 'bad frame')
    })
    socket.on('error', noteFault)
    socket.on('unexpected-response', (request, response: IncomingMessage) => {
      void readRefusal(response).then((err) => {
        closed(linkId, refused(err))
        request.destroy()
      })
    })
    socket.on('close', (code) => {
      clearInterval(beat)
      sockets.delete(linkId)
      closed(linkId, code)
    })
  }

  /** One frame; false when it is none of the protocol's. */
  const take = (linkId: number, text: string): boolean => {
    const parsed = serverFrameSchema.safeParse(parseJson(text))
    if (!parsed.success) {
      deps.log.error({ issues: parsed.error.issues.slice(0, 3) }, 'a frame does not fit the protocol')
      return false
    }
    const frame = parsed.data
    if (actor.getSnapshot().status !== 'active') return true
    if (frame.type === 'welcome') actor.send({ type: 'welcome', linkId })
    if (actor.getSnapshot().context.linkId !== linkId) return true
    if (frame.type === 'move') {
      actor.send({ type: 'move', linkId, afterMs: frame.afterMs })
      return true
    }
    actor.send({ type: 'frame.received', linkId })
    deps.onFrame(frame)
    return true
  }

  const closed = (linkId: number, code: number) => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'link.closed', linkId, code })
  }

  /** The same fault at every try is told once. */
  const noteFault = (error: unknown) => {
    const fault = error instanceof Error ? error.message : String(error)
    if (fault === lastFault) return
    lastFault = fault
    deps.log.warn({ server: deps.server.origin, fault }, 'the server cannot be reached')
  }

  const drop = (linkId: number) => {
    dropped.add(linkId)
    const socket = sockets.get(linkId)
    if (socket === undefined) return
    socket.close(1000)
    setTimeout(() => socket.terminate(), 1_000).unref()
  }

  const sendOn = (socket: WebSocket, frame: AgentFrame): boolean => {
    if (socket.readyState !== WebSocket.OPEN) return false
    if (socket.bufferedAmount > linkLimits.bufferedBytes) {
      // Nobody reads: a new link starts with what is unsettled.
      socket.terminate()
      return false
    }
    socket.send(JSON.stringify(frame))
    return true
  }

  const actor = createActor(
    agentLinkMachine.provide({
      actors: { enrol: fromPromise(() => enrol(deps)) },
      actions: {
        openLink: (_, { linkId }) => void open(linkId),
        dropLink: (_, { linkId }) => drop(linkId),
        closeEverything: deps.closeEverything,
      },
      delays: { backOff: ({ context }) => backOffMs(context.attempt, deps.random()) },
    }),
    { input: { enrolled: deps.identity.agentId() !== null } },
  )

  const isLinked = () => {
    const snapshot = actor.getSnapshot()
    return snapshot.matches('linked') || snapshot.matches('moving')
  }

  let state = ''
  actor.subscribe((snapshot) => {
    const next = typeof snapshot.value === 'string' ? snapshot.value : JSON.stringify(snapshot.value)
    if (next === state) return
    state = next
    if (next === 'linked') lastFault = ''
    deps.log.info({ state: next }, 'link')
    deps.onState(next)
  })

  const socketInUse = () => (isLinked() ? sockets.get(actor.getSnapshot().context.linkId) : undefined)

  return {
    start: () => actor.start(),
    stop: async () => {
      const ended = [...sockets.values()].map(
        (socket) => new Promise((resolve) => socket.once('close', resolve)),
      )
      actor.send({ type: 'stop' })
      await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, 1_500))])
    },
    send: (frame) => {
      const socket = socketInUse()
      return socket !== undefined && sendOn(socket, frame)
    },
    hasRoom: () => (socketInUse()?.bufferedAmount ?? 0) < linkLimits.bufferedBytes / 4,
    isLinked,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error code of a refused upgrade. */
async function readRefusal(response: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const chunk of response) {
      text += String(chunk)
      if (text.length > 65_536) break
    }
  } catch {
    // What came so far is judged.
  }
  return errorCodeOf(text) ?? `HTTP ${response.statusCode ?? 0}`
}
