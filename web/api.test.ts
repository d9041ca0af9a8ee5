import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ApiFailure, echoSession, isOutage, NetworkFailure, onSessionLoss, request } from './api.ts'

let server: Server
let origin = ''
let answer = { status: 200, body: '{"data":null}' }
let seen: { method: string | undefined; headers: Record<string, unknown>; body: string }[] = []
const losses: string[] = []

beforeAll(async () => {
  server = createServer((req, res) => {
    const parts: string[] = []
    req.on('data', (part) => parts.push(String(part)))
    req.on('end', () => {
      seen.push({ method: req.method, headers: req.headers, body: parts.join('') })
      if (answer.status === 0) req.socket.destroy()
      else res.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onSessionLoss({
    invalidSession: () => losses.push('invalidSession'),
    sessionChanged: () => losses.push('sessionChanged'),
    stepRequired: (code) => losses.push(code),
  })
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  seen = []
  losses.length = 0
  echoSession(null)
})

const ask = async (status: number, body: string): Promise<unknown> => {
  answer = { status, body }
  return request('POST', `${origin}/api/x`, { body: { A: 1 } }).catch((error: unknown) => error)
}

it('takes the data out of its envelope and sends JSON', async () => {
  expect(await ask(200, '{"data":{"B":2}}')).toEqual({ B: 2 })
  expect(seen[0]).toMatchObject({ method: 'POST', body: '{"A":1}' })
  expect(seen[0]?.headers).not.toHaveProperty('x-knoc-session')
})

it('echoes the session that this tab believes in', async () => {
  echoSession('abc')
  await ask(200, '{"data":null}')
  expect(seen[0]?.headers).toMatchObject({ 'x-knoc-session': 'abc' })
})

it('makes a refusal of an error answer, an unknown one included', async () => {
  expect(await ask(409, '{"Err":"err.addressChanged","Extra":"x"}')).toMatchObject({
    status: 409,
    code: 'err.addressChanged',
    extra: 'x',
  })
  expect(await ask(500, 'oops')).toMatchObject({ status: 500, code: 'err.internal' })
  expect(await ask(418, '{"Err":7}')).toMatchObject({ status: 418, code: 'err.internal' })
  expect(losses).toEqual([])
})

it('tells of a session that is gone, and of one that has changed', async () => {
  await ask(401, '{"Err":"err.invalidSession"}')
  await ask(409, '{"Err":"err.sessionChanged"}')
  await ask(401, '{"Err":"err.invalidCredentials"}')
  expect(losses).toEqual(['invalidSession', 'sessionChanged'])
})

it('tells of a session that lacks its second step', async () => {
  await ask(403, '{"Err":"err.totpVerificationRequired"}')
  await ask(403, '{"Err":"err.forbidden"}')
  await ask(403, '{"Err":"err.totpEnrolmentRequired"}')
  expect(losses).toEqual(['err.totpVerificationRequired', 'err.totpEnrolmentRequired'])
})

it('takes a cut connection and a proxy’s page for an outage, a refusal not', async () => {
  for (const [status, body] of [
    [0, ''],
    [502, '<html>Bad gateway</html>'],
    [200, '<html>Sign in to the Wi-Fi</html>'],
  ] as const) {
    const error = await ask(status, body)
    expect(error).toBeInstanceOf(NetworkFailure)
    expect(isOutage(error)).toBe(true)
  }
  expect(isOutage(await ask(503, '{"Err":"err.serviceUnavailable"}'))).toBe(true)
  expect(isOutage(await ask(403, '{"Err":"err.forbidden"}'))).toBe(false)
  expect(isOutage(new ApiFailure({ status: 401, code: 'err.invalidSession' }))).toBe(false)
})
