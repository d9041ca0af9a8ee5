import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  type AgentFrame,
  agentFrameSchema,
  enrolSchema,
  linkHeaders,
  linkSignatureText,
  type Order,
  type OrderResult,
  type ServerFrame,
  type TargetDescription,
} from '#machines/protocol.ts'

/** The other end of the wire, for tests of the agent alone: it speaks the protocol and decides nothing. */
export type WireServer = Awaited<ReturnType<typeof startWireServer>>

/** Starts it on loopback. It enrols whoever brings the token and verifies each upgrade's signature. */
export async function startWireServer(options: { token: string }) {
  const agentId = randomUUID()
  const frames: AgentFrame[] = []
  const sockets: WebSocket[] = []
  let publicKey = ''
  let sealingKey = ''
  let batch = 0
  let refusal: { status: number; err: string } | null = null
  const state = {
    epoch: randomUUID() as string,
    mayOpen: true,
    truthAtMs: null as number | null,
    isBeating: true,
  }
  const targets: TargetDescription[] = []

  const truthAtMs = () => state.truthAtMs ?? Date.now()

  const http = createServer((request, response) => void answer(request, response))
  const origin = () => `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const upgrades = new WebSocketServer({ noServer: true })

  const reply = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (request.url === '/api/agent/enrol') {
      const asked = enrolSchema.parse(JSON.parse(text))
      if (asked.Token !== options.token) return reply(response, 401, { Err: 'err.invalidToken' })
      publicKey = asked.PublicKey
      sealingKey = asked.SealingKey
      return reply(response, 200, { data: { AgentID: agentId } })
    }
    if (refusal !== null) return reply(response, refusal.status, { Err: refusal.err })
    return reply(response, 200, { data: { Nonce: 'n'.repeat(32), Server: origin() } })
  }

  http.on('upgrade', (request, socket, head) => {
    const read = (name: string) => String(request.headers[name] ?? '')
    const text = linkSignatureText({
      server: origin(),
      nonce: read(linkHeaders.nonce),
      agentId: read(linkHeaders.agent),
      machineId: read(linkHeaders.machine),
      protocol: read(linkHeaders.protocol),
    })
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
    if (!verify(null, Buffer.from(text), key, Buffer.from(read(linkHeaders.signature), 'base64'))) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n')
      return
    }
    upgrades.handleUpgrade(request, socket, head, (webSocket) => greet(webSocket))
  })

  const greet = (webSocket: WebSocket) => {
    sockets.push(webSocket)
    const beat = setInterval(() => {
      if (state.isBeating) sendOn(webSocket, { type: 'heartbeat', nowMs: Date.now(), truthAtMs: truthAtMs() })
    }, 500)
    webSocket.on('close', () => clearInterval(beat))
    webSocket.on('message', (data) => {
      const frame = agentFrameSchema.parse(JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : ''))
      frames.push(frame)
      if (frame.type !== 'hello') return
      sendOn(webSocket, {
        type: 'welcome',
        protocol: 1,
        serverVersion: '2.0.0',
        epoch: state.epoch,
        linkEpoch: sockets.length,
        nowMs: Date.now(),
        truthAtMs: truthAtMs(),
        mayOpen: state.mayOpen,
        targets,
      })
    })
  }

  const sendOn = (webSocket: WebSocket, frame: ServerFrame) => webSocket.send(JSON.stringify(frame))
  const send = (frame: ServerFrame) => sockets.at(-1)?.send(JSON.stringify(frame))
  const ofType = <Type extends AgentFrame['type']>(type: Type) =>
    frames.filter((frame): frame is Extract<AgentFrame, { type: Type }> => frame.type === type)

  const listen = (port: number) => new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = http.address() as AddressInfo

  return {
    url: new URL(origin()),
    agentId,
    /** X25519, SPKI DER in base64; of the agent that enrolled last. */
    sealingKey: () => sealingKey,
    state,
    targets,
    frames,
    sockets,
    ofType,
    send,
    /** Sends a batch and answers its number. */
    order: (...orders: Order[]): number => {
      batch += 1
      send({ type: 'orders', batch, nowMs: Date.now(), orders })
      return batch
    },
    /** The newest result for an order, if it was answered. */
    resultOf: (order: Order): OrderResult | undefined =>
      ofType('results')
        .flatMap(({ results }) => results)
        .findLast(
          (result) =>
            result.targetId === order.targetId &&
            result.address === order.address &&
            result.generation === order.generation,
        ),
    refuse: (next: { status: number; err: string } | null) => {
      refusal = next
    },
    /** Gone without a word, as a dead host is. */
    goAway: async () => {
      for (const socket of sockets) socket.terminate()
      await new Promise((resolve) => http.close(resolve))
    },
    comeBack: () => listen(port),
  }
}
