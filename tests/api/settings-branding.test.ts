import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { securityHeaders } from '#server/platform/http/security-headers.ts'
import { logoLimits } from '#server/settings/logo.schema.ts'
import { statusRoutes } from '#server/status/status.routes.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { auditOf, signedInAdmin } from '#tests/support/people-builders.ts'
import { aJpeg, aPng, aPngOf } from '#tests/support/pictures.ts'

let api: PeopleApi
let admin: Browser & { name: string }
beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
})
beforeEach(async () => {
  await api.db.deleteFrom('settings').execute()
  await api.db.deleteFrom('logos').execute()
})
afterAll(() => api.stop())

const path = '/admin/settings/customize'
const save = (change: Record<string, unknown>, headers: Record<string, string> = {}) =>
  admin.post(path, change, headers)
const read = async () => (await admin.get('/admin/settings')).body.data
const theme = async () => (await api.browser().get('/theme')).body.data
const toBase64 = (picture: Buffer) => picture.toString('base64')
const addressOf = (picture: Buffer) => `/api/theme/logo/${createHash('sha256').update(picture).digest('hex')}`
const standard = {
  Accent: 'grape',
  HighAccessibility: false,
  NewUserDashboard: true,
  Logo: '',
  LightModeLogo: '',
}

describe('Settings → Branding and UI', () => {
  it('save what is sent, keep what is absent, and the theme tells it to everybody at once', async () => {
    expect(await read()).toMatchObject(standard)
    const answer = await save({ Accent: 'rose', HighAccessibility: true })
    expect([answer.status, answer.body]).toEqual([200, { data: null }])
    expect(await read()).toMatchObject({ ...standard, Accent: 'rose', HighAccessibility: true })
    await save({ NewUserDashboard: false })
    expect(await read()).toMatchObject({ Accent: 'rose', HighAccessibility: true, NewUserDashboard: false })
    expect(await theme()).toEqual({
      Accent: 'rose',
      HighAccessibility: true,
      Logo: null,
      LightModeLogo: null,
    })
  })

  it.each(['teal', 'grape', 'iceberg', 'rose', 'offsite'])('take the accent %s', async (Accent) => {
    expect((await save({ Accent })).status).toBe(200)
    expect((await theme()).Accent).toBe(Accent)
  })

  it.each([
    [{ Accent: 'pink' }, 422, 'err.invalidField', 'Accent'],
    [{ Accent: '' }, 422, 'err.invalidField', 'Accent'],
    [{ HighAccessibility: 'yes' }, 400, 'err.badRequest', 'HighAccessibility'],
    [{ NewUserDashboard: null }, 400, 'err.badRequest', 'NewUserDashboard'],
    [{ Logo: 7 }, 400, 'err.badRequest', 'Logo'],
    [{ Colour: 'rose' }, 400, 'err.badRequest', 'Colour'],
  ])('refuse %j, and nothing beside it is saved', async (change, status, Err, Extra) => {
    const answer = await save({ Accent: 'teal', NewUserDashboard: false, ...change })
    expect([answer.status, answer.body]).toEqual([status, { Err, Extra }])
    expect(await read()).toMatchObject(standard)
  })

  it('refuse a change from an older version, of which a logo is part', async () => {
    const old = (await admin.get('/admin/settings')).headers.get('ETag') ?? ''
    const first = await save({ Logo: toBase64(aPng()) }, { 'If-Match': old })
    expect(first.headers.get('ETag')).toBe((await admin.get('/admin/settings')).headers.get('ETag'))
    expect(first.headers.get('ETag')).not.toBe(old)
    for (const [to, change] of [
      [path, { Logo: '' }],
      ['/admin/settings/config', { DiscoverIP: true }],
    ] as const) {
      const stale = await admin.post(to, change, { 'If-Match': old })
      expect([stale.status, stale.body]).toEqual([409, { Err: 'err.changedMeanwhile' }])
    }
    expect(await read()).toMatchObject({ Logo: addressOf(aPng()), DiscoverIP: false })
  })

  it('say in the audit log what was changed, not to what, and nothing when nothing was', async () => {
    const events = async () =>
      (await auditOf(api, admin.name)).filter(({ kind }) => kind === 'UpdateSettings')
    const before = (await events()).length
    const change = { Accent: 'iceberg', NewUserDashboard: true, Logo: toBase64(aPng()), LightModeLogo: '' }
    await save(change)
    await save(change)
    await save({ Logo: '' })
    expect((await events()).slice(before)).toMatchObject([
      { fields: { AdminName: admin.name, Description: 'Accent, Logo' } },
      { fields: { AdminName: admin.name, Description: 'Logo' } },
    ])
  })
})

describe('a logo', () => {
  it('is a png or a jpeg, one for dark and one for light backgrounds, and read by everybody', async () => {
    expect((await save({ Logo: toBase64(aPng()), LightModeLogo: toBase64(aJpeg()) })).status).toBe(200)
    const logos = { Logo: addressOf(aPng()), LightModeLogo: addressOf(aJpeg()) }
    expect(await read()).toMatchObject(logos)
    expect(await theme()).toMatchObject(logos)
    for (const [picture, type] of [
      [aPng(), 'image/png'],
      [aJpeg(), 'image/jpeg'],
    ] as const) {
      const { status, body, headers } = await fetchLogo(addressOf(picture))
      expect([status, headers.get('Content-Type')]).toEqual([200, type])
      expect(body.equals(picture)).toBe(true)
    }
  })

  it('is kept by browsers for ever, and nothing but a picture to them', async () => {
    await save({ Logo: toBase64(aPng()) })
    const { headers } = await fetchLogo(addressOf(aPng()))
    expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('Content-Security-Policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin')
  })

  it('is gone from its address once it is replaced or removed', async () => {
    const other = aPng({ colour: [0, 0, 0] })
    await save({ Logo: toBase64(aPng()), LightModeLogo: toBase64(aJpeg()) })
    await save({ Logo: toBase64(other) })
    expect((await fetchLogo(addressOf(aPng()))).status).toBe(404)
    expect((await fetchLogo(addressOf(other))).status).toBe(200)
    await save({ Logo: '' })
    const gone = await fetchLogo(addressOf(other))
    expect([gone.status, gone.headers.get('Content-Type'), gone.headers.get('Cache-Control')]).toEqual([
      404,
      'application/json',
      'no-store',
    ])
    expect(JSON.parse(gone.body.toString())).toEqual({ Err: 'err.notFound' })
    expect(await theme()).toMatchObject({ Logo: null, LightModeLogo: addressOf(aJpeg()) })
  })

  it('stays while one of two places still has it', async () => {
    await save({ Logo: toBase64(aPng()), LightModeLogo: toBase64(aPng()) })
    await save({ Logo: '' })
    expect((await fetchLogo(addressOf(aPng()))).status).toBe(200)
  })

  it('may have 512 kB and 4096 pixels, and no more', async () => {
    for (const Logo of [aPngOf(logoLimits.bytes), aPng({ width: 4096, height: 1 })])
      expect((await save({ Logo: toBase64(Logo) })).status).toBe(200)
    for (const [Logo, Err] of [
      [aPngOf(logoLimits.bytes + 1), 'err.logoTooLarge'],
      [aPngOf(logoLimits.bytes + 60_000), 'err.logoTooLarge'],
      [aPng({ width: 4097, height: 1 }), 'err.logoDimensions'],
      [aPng({ width: 1, height: 4097 }), 'err.logoDimensions'],
      [aJpeg({ width: 5000, height: 5000 }), 'err.logoDimensions'],
    ] as const)
      expect((await save({ Logo: toBase64(Logo) })).body).toEqual({ Err, Extra: 'Logo' })
    expect((await read()).Logo).toBe(addressOf(aPng({ width: 4096, height: 1 })))
  })

  it.each([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['an HTML page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a GIF', Buffer.from('GIF89a\u0001\u0000\u0001\u0000')],
    [
      'a PNG’s signature with a page behind it',
      Buffer.from('\x89PNG\r\n\x1a\n<html></html>'.padEnd(64), 'latin1'),
    ],
    ['a PNG that breaks off in its header', aPng().subarray(0, 30)],
    ['a PNG that breaks off', aPng().subarray(0, -1)],
    ['a PNG without width', aPng({ width: 0, height: 1 })],
    [
      'a JPEG’s first bytes with a page behind them',
      Buffer.from('\xff\xd8<html></html>'.padEnd(64), 'latin1'),
    ],
    ['a JPEG without a frame', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xd9, 0, 0, 0, 0])],
    [
      'a JPEG whose segment points behind its end',
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, 0, 0, 0, 0, 0, 0]),
    ],
    ['a JPEG without height', aJpeg({ height: 0 })],
    ['nothing but spaces', Buffer.from('    ')],
  ])('is refused as %s, whatever it is called', async (_, picture) => {
    for (const name of ['Logo', 'LightModeLogo']) {
      const answer = await save({ [name]: toBase64(picture), Accent: 'teal' })
      expect([answer.status, answer.body]).toEqual([422, { Err: 'err.logoInvalid', Extra: name }])
    }
    expect(await read()).toMatchObject(standard)
  })

  it.each([
    ['with a prefix', `data:image/png;base64,${toBase64(aPng())}`],
    ['of URLs', toBase64(aPng()).replaceAll(/[+/]/g, '-')],
    ['cut short', toBase64(aPng()).slice(0, -1)],
    ['broken into lines', `${toBase64(aPng()).slice(0, 76)}\n${toBase64(aPng()).slice(76)}`],
    ['that is an address', addressOf(aPng())],
    ['RECORDED', 'RECORDED'],
  ])('is not taken as base64 %s', async (_, Logo) => {
    const answer = await save({ Logo })
    expect([answer.status, answer.body]).toEqual([422, { Err: 'err.logoInvalid', Extra: 'Logo' }])
  })

  it.each(['none', '%00', '..%2f..%2fstatus', 'a'.repeat(5000)])('is not found at %s', async (hash) => {
    const { status, body } = await api.browser().get(`/theme/logo/${hash}`)
    expect([status, body.Err]).toEqual([404, 'err.notFound'])
  })
})

/** With the headers that stand around every route of the server. */
async function fetchLogo(address: string) {
  const app = new Hono<HttpEnv>()
    .use(securityHeaders({ publicUrl: api.deps.config.publicUrl }))
    .route('/api', statusRoutes(api.deps))
    .onError((error, c) => c.json({ Err: error.message }, 404))
  const response = await app.request(address)
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  }
}
