import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type ErrorCode, errorStatus } from '../errors.ts'
import type { Log } from './log.ts'

/** A request to become a WebSocket. Nothing of it was read but its header. */
export interface Upgrade {
  request: IncomingMessage
  /** Address of the other end of the connection. */
  peer: string
  /** Makes it one; what the other side sends from now on arrives as messages. */
  accept: () => Promise<WebSocket>
  /** Answers with a catalogue error and closes. */
  refuse: (code: ErrorCode) => void
}

/** Decides about an upgrade: authenticates it by its header, then accepts or refuses. What it throws refuses. */
export type OnUpgrade = (upgrade: Upgrade) => void | Promise<void>

/** Frames are at most 1 MiB and not compressed; a decision takes at most 10 s (decision 29). */
const largestFrameBytes = 1024 * 1024
const decisionMilliseconds = 10_000

/** Takes upgrade requests of a listener. */
export function createUpgrades(onUpgrade: OnUpgrade | undefined, log: Log) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestFrameBytes,
    perMessageDeflate: false,
  })

  function take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const timer = setTimeout(() => socket.destroy(), decisionMilliseconds)
    const upgrade = {
      request,
      peer: request.socket.remoteAddress ?? '',
      accept: () => {
        clearTimeout(timer)
        return new Promise<WebSocket>((resolve, reject) => {
          socket.once('close', () => reject(new Error('The connection is gone.')))
          sockets.handleUpgrade(request, socket, head, (webSocket) => {
            // A frame that is too large or malformed ends the connection, nothing more.
            webSocket.on('error', (err) => log.debug({ err: err.message }, 'WebSocket failed'))
            resolve(webSocket)
          })
        })
      },
      refuse: (code: ErrorCode) => {
        clearTimeout(timer)
        refuse(socket, code)
      },
    }
    decide(upgrade).catch((err: unknown) => {
      log.error({ err }, 'upgrade failed')
      upgrade.refuse('err.internal')
    })
  }

  async function decide(upgrade: Upgrade): Promise<void> {
    if (onUpgrade === undefined) upgrade.refuse('err.notFound')
    else await onUpgrade(upgrade)
  }

  function close(): void {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
  }

  return { take, close }
}

function refuse(socket: Duplex, code: ErrorCode): void {
  if (socket.destroyed) return
  const body = JSON.stringify({ Err: code })
  const status = errorStatus[code]
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
