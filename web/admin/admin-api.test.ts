import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ApiFailure } from '../api.ts'
import { createAgent, fetchKnoc, listUsers, renameAgent, toSearch, updateKnoc } from './admin-api.ts'

type Seen = { method: string; url: string; ifMatch: string | undefined; body: unknown }
let server: Server
let seen: Seen[] = []
let answer = { status: 200, headers: {} as Record<string, string>, body: {} as unknown }
const { fetch } = globalThis

/** Answers what a test says, on a real socket. */
beforeAll(async () => {
  server = createServer((req, res) => void reply(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // A browser resolves paths against its page; here there is none.
  globalThis.fetch = (path, init) => fetch(typeof path === 'string' ? origin + path : path, init)
})
afterAll(async () => {
  globalThis.fetch = fetch
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  seen = []
})

describe('the console’s calls', () => {
  it('asks for one page of users, found and ordered by the server', async () => {
    answer = { status: 200, headers: {}, body: { data: [{ ID: 'a' }], total: 100_000 } }
    const page = await listUsers({ limit: 25, offset: 50, search: 'a&b', sort: '-LastLogin' })
    expect(page).toEqual({ rows: [{ ID: 'a' }], total: 100_000 })
    expect(seen[0]?.url).toBe('/api/admin/users?limit=25&offset=50&search=a%26b&sort=-LastLogin')
    expect(toSearch({ search: '' })).toBe('')
  })

  it('writes with the version it read', async () => {
    answer = { status: 200, headers: { etag: '"7"' }, body: { data: { ID: 'k' } } }
    const { etag } = await fetchKnoc('k')
    await updateKnoc({ id: 'k', body: {}, etag })
    await renameAgent({ id: 'a', name: 'fw-1', etag: null })
    expect(seen.map(({ method, url, ifMatch }) => [method, url, ifMatch])).toEqual([
      ['GET', '/api/admin/knocs/k', undefined],
      ['PUT', '/api/admin/knocs/k', '"7"'],
      ['PUT', '/api/admin/agents/a', undefined],
    ])
    expect(seen[2]?.body).toEqual({ ID: 'a', Name: 'fw-1' })
  })

  it('throws the catalogue’s code of a refusal', async () => {
    answer = { status: 409, headers: {}, body: { Err: 'err.agentNameTaken', Extra: 'fw-1' } }
    const failure = await createAgent('fw-1').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ApiFailure)
    expect(failure).toMatchObject({ status: 409, code: 'err.agentNameTaken', extra: 'fw-1' })
  })
})

async function reply(req: IncomingMessage, res: ServerResponse): Promise<void> {
  seen.push({
    method: req.method ?? '',
    url: req.url ?? '',
    ifMatch: req.headers['if-match'],
    body: await read(req),
  })
  res.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  res.end(JSON.stringify(answer.body))
}

async function read(req: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for await (const chunk of req) chunks.push(chunk as Uint8Array)
  const text = Buffer.concat(chunks).toString()
  return text === '' ? undefined : JSON.parse(text)
}
