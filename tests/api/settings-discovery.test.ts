import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { auditOf, signedInAdmin } from '#tests/support/people-builders.ts'

let api: PeopleApi
let admin: Browser & { name: string }
beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
})
beforeEach(() => api.db.deleteFrom('settings').execute())
afterAll(() => api.stop())

const save = (change: Record<string, unknown>) => admin.post('/admin/settings/config', change)
const read = async () => (await admin.get('/admin/settings')).body.data
const initial = {
  DiscoverIP: false,
  DiscoverIPURL: '',
  TrustDiscoveryClaims: false,
  KioskSessionDuration: 30,
}

describe('Settings → Discovery', () => {
  it('saves what is sent and keeps what is absent', async () => {
    expect(await read()).toMatchObject(initial)
    const answer = await save({ DiscoverIP: true, DiscoverIPURL: ' https://discover.example ' })
    expect([answer.status, answer.body]).toEqual([200, { data: null }])
    await save({ TrustDiscoveryClaims: true })
    await save({ KioskSessionDuration: 20 })
    await save({})
    expect(await read()).toMatchObject({
      DiscoverIP: true,
      DiscoverIPURL: 'https://discover.example',
      TrustDiscoveryClaims: true,
      KioskSessionDuration: 20,
    })
    await save({ DiscoverIPURL: '', DiscoverIP: false })
    expect(await read()).toMatchObject({ DiscoverIP: false, DiscoverIPURL: '', TrustDiscoveryClaims: true })
  })

  it.each(['http://discover.example', 'https://discover.example', 'https://[2001:db8::1]'])(
    'takes the address %s',
    async (DiscoverIPURL) => {
      expect((await save({ DiscoverIPURL })).status).toBe(200)
      expect((await read()).DiscoverIPURL).toBe(DiscoverIPURL)
    },
  )

  it.each([
    ['ftp://discover.example', 'err.urlScheme'],
    ['javascript:alert(1)', 'err.urlScheme'],
    ['//discover.example', 'err.urlScheme'],
    ['discover.example', 'err.urlScheme'],
    ['https://', 'err.urlScheme'],
    ['https://me@discover.example', 'err.invalidField'],
    ['https://me:secret@discover.example', 'err.invalidField'],
    ['https://discover.example#here', 'err.invalidField'],
    ['https://discover.example#', 'err.invalidField'],
    [`https://discover.example/${'a'.repeat(2048)}`, 'err.invalidField'],
  ])('refuses the address %s', async (DiscoverIPURL, Err) => {
    const answer = await save({ DiscoverIPURL, DiscoverIP: true })
    expect([answer.status, answer.body]).toEqual([422, { Err, Extra: 'DiscoverIPURL' }])
    expect(await read()).toMatchObject(initial)
  })

  it.each([
    ['DiscoverIP', 'on'],
    ['DiscoverIP', null],
    ['DiscoverIPURL', null],
    ['DiscoverIPURL', ['https://discover.example']],
    ['TrustDiscoveryClaims', 1],
    ['DiscoverPorts', [443]],
  ])('refuses %s as %j', async (name, value) => {
    const answer = await save({ KioskSessionDuration: 60, [name]: value })
    expect([answer.status, answer.body]).toEqual([400, { Err: 'err.badRequest', Extra: name }])
    expect(await read()).toMatchObject(initial)
  })

  it('says in the audit log what was changed, not to what', async () => {
    const events = async () =>
      (await auditOf(api, admin.name)).filter(({ kind }) => kind === 'UpdateSettings')
    const before = (await events()).length
    await save({ DiscoverIP: true, DiscoverIPURL: 'https://discover.example', TrustDiscoveryClaims: false })
    expect((await events()).slice(before)).toMatchObject([
      { fields: { AdminName: admin.name, Description: 'DiscoverIP, DiscoverIPURL' } },
    ])
  })

  it('tells the console whether to offer ‘Open to CGNAT’', async () => {
    const status = async () => (await admin.get('/admin/status')).body.data
    expect(await status()).toMatchObject({ DiscoverIP: false })
    await save({ DiscoverIP: true })
    expect(await status()).toMatchObject({ DiscoverIP: true })
  })
})
