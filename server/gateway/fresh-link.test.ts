import { afterAll, beforeAll, expect, it } from 'vitest'
import { anAgent } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { aHello, aQuietGateway } from '#tests/support/quiet-gateway.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

/** A socket that keeps what is done to it. */
function aSocket() {
  const frames: { type: string }[] = []
  const closed: number[] = []
  return {
    frames,
    closed,
    send: (text: string) => void frames.push(JSON.parse(text) as { type: string }),
    close: (code: number) => void closed.push(code),
    terminate: () => undefined,
    bufferedAmount: 0,
  }
}

const makeGateway = (replica: string) => aQuietGateway(database.db, { replica })

const hello = JSON.stringify(aHello())

const run = (gateway: ReturnType<typeof makeGateway>, name: 'table' | 'heartbeat') =>
  gateway.duties.find((duty) => duty.name === name)?.run()

const welcomed = (socket: ReturnType<typeof aSocket>) =>
  expect.poll(() => socket.frames.map(({ type }) => type)).toContain('welcome')

it('keeps a link that was made while an older look at the table was the newest', async () => {
  const gateway = makeGateway('one')
  const socket = aSocket()
  const link = gateway.accept({ agentId: await anAgent(database.db), externalIp: '192.0.2.1' }, socket)
  await run(gateway, 'table')
  link.receive(hello)
  await welcomed(socket)
  await run(gateway, 'heartbeat')
  expect(socket.closed).toEqual([])
  expect(socket.frames.map(({ type }) => type)).toContain('heartbeat')
})

it('ends a link that another replica has taken over', async () => {
  const agentId = await anAgent(database.db)
  const [here, there] = [makeGateway('here'), makeGateway('there')]
  const [older, newer] = [aSocket(), aSocket()]
  here.accept({ agentId, externalIp: '192.0.2.1' }, older).receive(hello)
  await welcomed(older)
  there.accept({ agentId, externalIp: '192.0.2.1' }, newer).receive(hello)
  await welcomed(newer)
  await run(here, 'table')
  await run(here, 'heartbeat')
  expect(older.closed).toEqual([4410])
  expect(newer.closed).toEqual([])
})
