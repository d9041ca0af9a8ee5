import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { apiError } from '../../errors.ts'
import { createLog } from '../log.ts'
import { bodyLimit } from './body-limit.ts'
import { clientAddressOf } from './client-address.ts'
import { created, ok } from './envelope.ts'
import { errorHandler, notFoundHandler } from './error-handler.ts'
import type { HttpEnv } from './http-env.ts'
import { originCheck } from './origin-check.ts'
import { rateLimit } from './rate-limit.ts'
import { requestId } from './request-id.ts'
import { securityHeaders } from './security-headers.ts'
import { validate } from './validate.ts'

const publicUrl = 'https://knoc.example.com'

const bodySchema = z.strictObject({
  Name: z.string().min(1).max(10),
  Minutes: z.number().int().max(60, 'err.maximumGrantDurationInvalid').default(5),
  Type: z.enum(['ipset', 'haproxy']).default('ipset'),
  Address: z.union([z.ipv4(), z.ipv6()]).optional(),
  Backend: z
    .discriminatedUnion('Kind', [
      z.object({ Kind: z.literal('a'), Host: z.string().min(2) }),
      z.object({ Kind: z.literal('b') }),
    ])
    .optional(),
  Sets: z.array(z.object({ Set: z.string() })).optional(),
})

function anApp() {
  const lines: string[] = []
  const log = createLog({ logLevel: 'debug', replica: 'r' }, { write: (line) => void lines.push(line) })
  let now = 0
  const app = new Hono<HttpEnv>()
    .onError(errorHandler({ log }))
    .notFound(notFoundHandler)
    .use(
      requestId(),
      securityHeaders({ publicUrl }),
      clientAddressOf([]),
      originCheck({ publicUrl, exempt: ['/api/acs'] }),
      bodyLimit(),
    )
    .use('/api/limited', rateLimit({ burst: 2, perMinute: 30, mostClients: 3 }, { now: () => new Date(now) }))
    .get('/api/limited', (c) => ok(c, { Address: c.var.client.address }))
    .post('/api/things', validate('json', bodySchema), (c) => created(c, { ID: c.req.valid('json').Name }))
    .get('/api/list', validate('query', z.object({ limit: z.coerce.number().max(5).default(1) })), (c) =>
      ok(c, c.req.valid('query')),
    )
    .post('/api/acs', (c) => ok(c, {}))
    .get('/api/fails/:how', (c) => {
      throw failures[c.req.param('how')]
    })
  const pass = (seconds: number) => {
    now += seconds * 1000
  }
  return { app, lines, pass }
}

const failures: Record<string, Error> = {
  foreseen: apiError('err.userNameTaken', { extra: 'ann', detail: 'row 7' }),
  unforeseen: new Error('secret detail'),
  http: new HTTPException(405),
  deadlock: Object.assign(new Error('deadlock detected'), { code: '40P01' }),
  socket: Object.assign(new Error('connect ENOENT'), { code: 'ENOENT', syscall: 'connect' }),
  wrapped: new Error('migrating', { cause: Object.assign(new Error('x'), { code: '57P01' }) }),
}

const post = (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

async function answer(response: Response | Promise<Response>) {
  const { status, headers } = await response
  const text = await (await response).text()
  return { status, headers, body: text === '' ? undefined : JSON.parse(text) }
}

describe('a request body', () => {
  const { app } = anApp()
  it.each([
    ['right', { Name: 'x' }, 201, undefined, undefined],
    ['malformed JSON', '{"Name":', 400, 'err.badRequest', undefined],
    ['an array', [], 400, 'err.badRequest', ''],
    ['null', 'null', 400, 'err.badRequest', ''],
    ['a missing key', {}, 400, 'err.badRequest', 'Name'],
    ['a wrong type', { Name: 7 }, 400, 'err.badRequest', 'Name'],
    ['an unknown key', { Name: 'x', Extra: 1 }, 400, 'err.badRequest', 'Extra'],
    [
      'a wrong type deep inside',
      { Name: 'x', Sets: [{ Set: 'a' }, { Set: 1 }] },
      400,
      'err.badRequest',
      'Sets.1.Set',
    ],
    ['a broken rule', { Name: 'much too long' }, 422, 'err.invalidField', 'Name'],
    [
      'a broken rule with its own code',
      { Name: 'x', Minutes: 61 },
      422,
      'err.maximumGrantDurationInvalid',
      'Minutes',
    ],
    ['a value outside of a choice', { Name: 'x', Type: 'nft' }, 422, 'err.invalidField', 'Type'],
    ['no alternative’s value', { Name: 'x', Address: 'one' }, 422, 'err.invalidField', 'Address'],
    ['no alternative’s type', { Name: 'x', Address: 1 }, 400, 'err.badRequest', 'Address'],
    ['an unknown kind', { Name: 'x', Backend: { Kind: 'c' } }, 422, 'err.invalidField', 'Backend.Kind'],
    ['no kind', { Name: 'x', Backend: {} }, 400, 'err.badRequest', 'Backend.Kind'],
    [
      'a broken rule of a kind',
      { Name: 'x', Backend: { Kind: 'a', Host: 'h' } },
      422,
      'err.invalidField',
      'Backend.Host',
    ],
    [
      'a wrong type beside a broken rule',
      { Name: 'much too long', Minutes: 'x' },
      400,
      'err.badRequest',
      'Minutes',
    ],
  ])('that is %s', async (_, sent, status, code, extra) => {
    const told = await answer(app.request('/api/things', post(sent)))
    expect(told.status).toBe(status)
    if (code === undefined) expect(told.body).toEqual({ data: { ID: 'x' } })
    else expect(told.body).toEqual({ Err: code, ...(extra !== undefined && { Extra: extra }) })
  })

  it.each([['text/plain'], ['application/x-www-form-urlencoded'], ['application/problem+json'], ['']])(
    'as %s is refused',
    async (type) => {
      const headers = { origin: publicUrl, ...(type !== '' && { 'content-type': type }) }
      const told = await answer(app.request('/api/things', post({ Name: 'x' }, headers)))
      expect(told).toMatchObject({ status: 415, body: { Err: 'err.unsupportedMediaType' } })
    },
  )

  it('over 64 kB is refused, with its length told or not', async () => {
    const big = JSON.stringify({ Name: 'x'.repeat(70_000) })
    const told = post(big, { 'content-type': 'application/json', 'content-length': String(big.length) })
    expect((await answer(app.request('/api/things', told))).body).toEqual({ Err: 'err.payloadTooLarge' })
    const stream = new Blob([big]).stream()
    const untold = new Request('http://x/api/things', {
      ...post(''),
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect(await answer(app.request(untold))).toMatchObject({
      status: 413,
      body: { Err: 'err.payloadTooLarge' },
    })
  })

  it('does not matter to query parameters, which follow the same rules', async () => {
    expect((await answer(app.request('/api/list?limit=3'))).body).toEqual({ data: { limit: 3 } })
    expect(await answer(app.request('/api/list?limit=x'))).toMatchObject({
      status: 400,
      body: { Extra: 'limit' },
    })
    expect(await answer(app.request('/api/list?limit=6'))).toMatchObject({
      status: 422,
      body: { Err: 'err.invalidField' },
    })
    expect(await answer(app.request('/api/list?limit=1&limit=2'))).toMatchObject({ status: 400 })
  })
})

describe('an error', () => {
  it.each([
    ['foreseen', 409, { Err: 'err.userNameTaken', Extra: 'ann' }, 'row 7'],
    ['unforeseen', 500, { Err: 'err.internal' }, 'secret detail'],
    ['http', 405, { Err: 'err.methodNotAllowed' }, ''],
    ['deadlock', 503, { Err: 'err.serviceUnavailable', Extra: '2' }, ''],
    ['socket', 503, { Err: 'err.serviceUnavailable', Extra: '2' }, ''],
    ['wrapped', 503, { Err: 'err.serviceUnavailable', Extra: '2' }, ''],
  ])(
    'that is %s becomes one of the catalogue, and only the log says more',
    async (how, status, body, logged) => {
      const { app, lines } = anApp()
      const told = await answer(app.request(`/api/fails/${how}`))
      expect(told).toMatchObject({ status, body })
      expect(JSON.stringify(told.body)).not.toContain('detail')
      expect(lines.join()).toContain(logged)
      expect(lines.join()).toContain(told.headers.get('x-request-id'))
      expect(told.headers.get('retry-after')).toBe(status === 503 ? '2' : null)
    },
  )

  it('is err.notFound where no route is', async () => {
    expect(await answer(anApp().app.request('/api/nowhere'))).toMatchObject({
      status: 404,
      body: { Err: 'err.notFound' },
    })
  })
})

describe('a request that changes something', () => {
  const { app } = anApp()
  const json = { 'content-type': 'application/json' }
  it.each<[string, Record<string, string>, number]>([
    ['from our own pages', { ...json, origin: publicUrl }, 201],
    ['from another site', { ...json, origin: 'https://evil.example' }, 403],
    ['from another port', { ...json, origin: `${publicUrl}:8443` }, 403],
    ['in plain http', { ...json, origin: 'http://knoc.example.com' }, 403],
    ['from a hidden origin', { ...json, origin: 'null' }, 403],
    ['marked cross-site', { ...json, 'sec-fetch-site': 'cross-site' }, 403],
    ['marked same-site', { ...json, 'sec-fetch-site': 'same-site' }, 403],
    ['marked same-origin', { ...json, 'sec-fetch-site': 'same-origin' }, 201],
    ['from a program, as JSON', json, 201],
    [
      'from a form of nobody knows where',
      { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '12' },
      403,
    ],
    [
      'as text from nobody knows where',
      { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' },
      403,
    ],
  ])('%s', async (_, headers, status) => {
    const told = await answer(app.request('/api/things', post({ Name: 'x' }, headers)))
    expect(told.status).toBe(status)
    if (status === 403) expect(told.body).toEqual({ Err: 'err.foreignOrigin' })
  })

  it('passes from the identity provider to its callback only', async () => {
    const headers = { origin: 'https://idp.example', 'content-type': 'application/x-www-form-urlencoded' }
    expect((await app.request('/api/acs', { method: 'POST', headers })).status).toBe(200)
  })
})

describe('the rate limit', () => {
  const from = (peer: string) => ({ peer })

  it('counts by address, and says in how many seconds to come back', async () => {
    const { app, pass } = anApp()
    const ask = async (peer: string) => answer(app.request('/api/limited', {}, from(peer)))
    expect([(await ask('10.0.0.1')).status, (await ask('10.0.0.1')).status]).toEqual([200, 200])
    const refused = await ask('10.0.0.1')
    expect(refused).toMatchObject({ status: 429, body: { Err: 'err.tooManyRequests', Extra: '2' } })
    expect(refused.headers.get('retry-after')).toBe('2')
    expect((await ask('10.0.0.2')).status).toBe(200)
    pass(2)
    expect((await ask('10.0.0.1')).status).toBe(200)
    expect((await ask('10.0.0.1')).status).toBe(429)
  })

  it('remembers a bounded number of clients', async () => {
    const { app } = anApp()
    const ask = async (peer: string) => (await app.request('/api/limited', {}, from(peer))).status
    for (const peer of ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']) await ask(peer)
    expect(await ask('10.0.0.1')).toBe(200)
  })
})

describe('every answer', () => {
  it('carries the strict headers', async () => {
    const { headers } = await anApp().app.request('/api/list')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('promises no HTTPS when the public URL is http', async () => {
    const app = new Hono()
      .use(securityHeaders({ publicUrl: 'http://localhost:8080' }))
      .get('/', (c) => c.text('x'))
    expect((await app.request('/')).headers.has('strict-transport-security')).toBe(false)
  })

  it('names what pages may ask at the moment, which settings change while the server runs', async () => {
    let sources: string[] = []
    const changing = new Hono()
      .use(securityHeaders({ publicUrl: 'https://knoc.example', connectSources: () => sources }))
      .get('/', (c) => c.text('page'))
    const connect = async () =>
      /connect-src [^;]*/.exec(
        (await changing.request('/')).headers.get('Content-Security-Policy') ?? '',
      )?.[0]
    expect(await connect()).toBe("connect-src 'self'")
    sources = ['https://knoc.example:222', 'https://v4.knoc.example']
    expect(await connect()).toBe("connect-src 'self' https://knoc.example:222 https://v4.knoc.example")
    sources = []
    expect(await connect()).toBe("connect-src 'self'")
  })
})
