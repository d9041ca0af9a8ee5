import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askAddress, parseAddress } from './discovery-answer.ts'

let server: Server
let origin = ''
let answer: (response: ServerResponse) => void = () => {}
let cookies: string | undefined

beforeAll(async () => {
  server = createServer((request, response) => {
    cookies = request.headers.cookie
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

const ask = (next: typeof answer, signal = new AbortController().signal) => {
  answer = next
  return askAddress(`${origin}/ip`, signal)
}

it('takes the address that a lookup answers, of either family', async () => {
  expect(await ask((response) => response.end('203.0.113.7\n'))).toBe('203.0.113.7')
  expect(await ask((response) => response.end('2001:db8::7'))).toBe('2001:db8::7')
  expect(cookies).toBeUndefined()
})

it('takes nothing that isn’t an address', async () => {
  expect(await ask((response) => response.end('<h1>Sign in to this network</h1>'))).toBeNull()
  expect(await ask((response) => response.end('{"ip":"203.0.113.7"}'))).toBeNull()
  expect(await ask((response) => response.writeHead(503).end('203.0.113.7'))).toBeNull()
  expect(await ask((response) => response.writeHead(302, { location: '/elsewhere' }).end())).toBeNull()
  expect(await ask((response) => response.destroy())).toBeNull()
})

it('stops reading an answer without an end after 64 bytes', async () => {
  let isClosed = false
  const endless = (response: ServerResponse) => {
    response.on('close', () => {
      isClosed = true
    })
    const pour = () => {
      if (!response.destroyed && response.write(' '.repeat(65_536))) setImmediate(pour)
    }
    response.on('drain', pour)
    pour()
  }
  expect(await ask(endless)).toBeNull()
  await expect.poll(() => isClosed).toBe(true)
})

it('gives up an answer that never comes, when it is told to', async () => {
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 50)
  expect(await ask(() => {}, abort.signal)).toBeNull()
})

it.each([
  ['1.2.3.4', '1.2.3.4'],
  ['  ::1 ', '::1'],
  ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
  ['1.2.3', null],
  ['1.2.3.256', null],
  ['01.2.3.4', null],
  ['fe80::1%eth0', null],
  ['2001:db8:::1', null],
  ['::1]/@host', null],
  ['1.2.3.4, 5.6.7.8', null],
  ['', null],
])('reads %j as %j', (text, address) => {
  expect(parseAddress(text)).toBe(address)
})
