import { request } from 'node:https'
import { afterEach, expect, it } from 'vitest'
import { edlFetch, type FakePanos, panosKey, startFakePanos } from './fake-panos.ts'
import { until } from './until.ts'

/** Others' tests rest on this device: it is held to what is known of PAN-OS. */
let panos: FakePanos
afterEach(() => panos.stop())

const refreshOf = (name: string) =>
  `<request><system><external-list><refresh><type><ip><name>${name}</name></ip></type></refresh></external-list></system></request>`

/** One call with the form's fields, and the answer's status and text. */
function call(fields: Record<string, string>, key = panosKey) {
  const { promise, resolve, reject } = Promise.withResolvers<[number | undefined, string]>()
  const sent = request(
    `https://${panos.hostname}/api/`,
    { method: 'POST', headers: { 'X-PAN-KEY': key }, ca: panos.authority, agent: false },
    (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve([response.statusCode, text]))
    },
  )
  sent.on('error', reject)
  sent.end(new URLSearchParams(fields).toString())
  return promise
}

it('queues a refresh, keeps its last copy through outages, and enforces nothing while its key is refused', async () => {
  let source = { status: 200, text: '192.0.2.7\n2001:db8::7\n' }
  panos = await startFakePanos({ lists: [{ name: 'jit', fetch: async () => source }] })
  const { enforced, fetches } = panos.list('jit')
  const refresh = async (next: typeof source) => {
    source = next
    const before = fetches.length
    expect(await call({ type: 'op', cmd: refreshOf('jit') })).toEqual([
      200,
      '<response status="success"><result>EDL refresh job enqueued</result></response>',
    ])
    await until('a fetch', () => fetches.length > before)
    return [...enforced()]
  }
  const both = ['192.0.2.7', '2001:db8::7']
  expect(await refresh(source)).toEqual(both)
  expect(await refresh({ status: 503, text: '' })).toEqual(both)
  expect(await refresh({ status: 404, text: 'nothing' })).toEqual(both)
  expect(await refresh({ status: 401, text: '' })).toEqual([])
  expect(await refresh({ status: 503, text: '' })).toEqual([])
  expect(await refresh({ status: 200, text: '192.0.2.8\n' })).toEqual(['192.0.2.8'])
  expect(await refresh({ status: 200, text: '' })).toEqual([])
  expect(fetches).toEqual([200, 503, 404, 401, 503, 200, 200])
})

it('fetches at its own interval, and a source that is not there changes nothing', async () => {
  const fetch = edlFetch('http://127.0.0.1:9/', 'key')
  panos = await startFakePanos({ lists: [{ name: 'jit', fetch, everyMs: 10 }] })
  await until('two fetches', () => panos.list('jit').fetches.length >= 2)
  expect(new Set(panos.list('jit').fetches)).toEqual(new Set([0]))
})

it('refuses in PAN-OS’s words: keys, commands, lists, virtual systems and firewalls it does not know', async () => {
  const fetch = async () => ({ status: 200, text: '' })
  panos = await startFakePanos({ lists: [{ name: 'jit', serial: '001122334455', fetch }] })
  const op = { type: 'op', cmd: refreshOf('jit'), target: '001122334455' }
  expect(await call(op, 'another')).toEqual([
    403,
    "<response status = 'error' code = '403'><result><msg>Invalid Credential</msg></result></response>",
  ])
  expect((await call({ ...op, cmd: refreshOf('other') }))[1]).toContain(
    'code="17"><msg><line><![CDATA[ request',
  )
  expect((await call({ ...op, vsys: 'vsys9' }))[1]).toContain("vsys 'vsys9'")
  expect((await call({ ...op, target: '999' }))[1]).toContain('<line>999 not connected</line>')
  expect((await call({ ...op, cmd: '<show><system/></show>' }))[1]).toContain('is unexpected')
  expect((await call({ ...op, cmd: '<request>' }))[1]).toContain('code="17"')
  expect((await call({ type: 'config' }))[0]).toBe(400)
  expect((await call(op))[1]).toContain('enqueued')
  expect(panos.calls.at(-1)).toMatchObject({ url: '/api/', method: 'POST', form: op })
})
