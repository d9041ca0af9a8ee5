import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { bringsOrders, createFrameReader } from './link-frames.ts'
import { createMuddle, type Muddled } from './muddle.ts'
import { createRandom, type Random } from './random.ts'
import type { RelayCall } from './relay.ts'

/** Runs on a host, between its agent and the agent's proxy. See relay.ts. */
let random: Random | null = null
const counts: Muddled = { repeated: 0, delayed: 0, overtaken: 0 }

for await (const line of createInterface({ input: process.stdin })) {
  const { id, call } = JSON.parse(line) as { id: number; call: RelayCall }
  process.stdout.write(`${JSON.stringify({ id, value: await answer(call) })}\n`)
}
process.exit(0)

async function answer(call: RelayCall): Promise<unknown> {
  if (call.act === 'counts') return counts
  if (call.act === 'open') return open(call)
  random = call.seed === null ? null : createRandom(call.seed)
  return null
}

async function open({ port, to }: { port: number; to: number }): Promise<number> {
  const server = createServer((agent) => join(agent, connect(to, '127.0.0.1')))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Both ends live and die together. What is still held then is lost, as on any link that breaks. */
function join(agent: Socket, server: Socket): void {
  agent.on('error', () => undefined)
  server.on('error', () => undefined)
  agent.on('close', () => server.destroy())
  server.on('close', () => agent.destroy())
  agent.on('data', (data) => server.write(data))
  const take = readAnswer((data) => void (agent.destroyed || agent.write(data)))
  server.on('data', take)
}

/** Passes HTTP as it is; after an upgrade, frame by frame. */
function readAnswer(give: (data: Buffer) => void): (data: Buffer) => void {
  const read = createFrameReader()
  const muddle = createMuddle<Buffer>({
    bringsOrders,
    random: () => random,
    give,
    later: (act, afterMs) => void setTimeout(act, afterMs),
    counts,
  })
  let head: Buffer | null = Buffer.alloc(0)
  let isUpgraded = false
  return (data) => {
    if (head === null) {
      if (!isUpgraded) return give(data)
      for (const frame of read(data)) muddle(frame)
      return
    }
    head = Buffer.concat([head, data])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    isUpgraded = head.subarray(0, 12).toString() === 'HTTP/1.1 101'
    give(isUpgraded ? head.subarray(0, end + 4) : head)
    const rest = head.subarray(end + 4)
    head = null
    if (isUpgraded) for (const frame of read(rest)) muddle(frame)
  }
}
