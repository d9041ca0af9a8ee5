import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureFirstAdmin, type FirstAdmin } from '#server/admins/first-admin.ts'
import { resetAdminPassword } from '#server/admins/reset-admin.ts'
import { Secret } from '#server/platform/secret.ts'
import { type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  aLicence,
  anAcl,
  anAdmin,
  aUser,
  auditOf,
  rightPassword,
  signedIn,
  signedInAdmin,
} from '#tests/support/people-builders.ts'

let api: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
})
afterAll(() => api.stop())

const save = (name: string, value: unknown) =>
  api.db
    .insertInto('settings')
    .values({ name, value: JSON.stringify(value) })
    .execute()

describe('the first administrator', () => {
  const config = { adminUsername: undefined, adminPassword: undefined }

  it('is made once, with a random password that is shown once, however many replicas start', async () => {
    const shown: FirstAdmin[] = []
    await Promise.all(
      [1, 2, 3].map(() => ensureFirstAdmin({ ...api.deps, config }, (admin) => shown.push(admin))),
    )
    expect(shown).toHaveLength(1)
    expect(shown[0]?.userName).toBe('admin')
    expect(shown[0]?.password.length).toBeGreaterThanOrEqual(20)
    const login = await api
      .browser()
      .post('/admin/login', { UserName: 'admin', Password: shown[0]?.password })
    expect(login.body.data).toEqual({
      TotpEnabled: false,
      AdminTotpVerified: false,
      HasPasskey: false,
      TotpEnrolmentDeferable: false,
    })
    await ensureFirstAdmin({ ...api.deps, config }, (admin) => shown.push(admin))
    expect(shown).toHaveLength(1)
  })

  it('has the environment’s name and password, which are not shown', async () => {
    const other = await startPeopleApi()
    try {
      const given = { adminUsername: 'boss', adminPassword: new Secret('from the environment') }
      await ensureFirstAdmin({ ...other.deps, config: given }, () => {
        throw new Error('shown')
      })
      const login = { UserName: 'boss', Password: 'from the environment' }
      expect((await other.browser().post('/admin/login', login)).status).toBe(200)
    } finally {
      await other.stop()
    }
  })

  it('gets in again by the command line, and whoever was in is out', async () => {
    const admin = await anAdmin(api, { loginEnabled: true })
    const browser = await signedInAdmin(api, admin)
    await api.db.updateTable('admins').set({ loginEnabled: false }).where('id', '=', admin.id).execute()
    const deps = { db: api.db, passwords: api.deps.passwords }
    await resetAdminPassword(deps, { userName: admin.userName.toUpperCase(), newPassword: 'from the shell' })
    expect((await browser.get('/admin/status')).status).toBe(401)
    const login = { UserName: admin.userName, Password: 'from the shell' }
    expect((await api.browser().post('/admin/login', login)).status).toBe(200)
    expect((await auditOf(api, admin.userName)).map(({ kind }) => kind)).toContain('UpdateAdmin')
    await expect(
      resetAdminPassword(deps, { userName: 'nobody', newPassword: 'from the shell' }),
    ).rejects.toMatchObject({ code: 'err.notFound' })
    await expect(
      resetAdminPassword(deps, { userName: admin.userName, newPassword: 'short' }),
    ).rejects.toMatchObject({ code: 'err.passwordLength' })
  })

  it('gets in although the second factor is lost too, when the command line is asked to take it away', async () => {
    const admin = await anAdmin(api, {
      totpEnabled: true,
      totpSecret: 'sealed',
      totpConfirmedAt: new Date(),
    })
    await api.db.insertInto('recoveryCodes').values({ adminId: admin.id, codeHash: 'hash' }).execute()
    const deps = { db: api.db, passwords: api.deps.passwords }
    const reset = { userName: admin.userName, newPassword: 'from the shell' }
    const signIn = () =>
      api.browser().post('/admin/login', { UserName: admin.userName, Password: 'from the shell' })
    await resetAdminPassword(deps, reset)
    expect((await signIn()).body.data.AdminTotpVerified).toBe(true)
    await resetAdminPassword(deps, { ...reset, withSecondFactor: true })
    expect((await signIn()).body.data).toMatchObject({ TotpEnabled: true, AdminTotpVerified: false })
    const left = await api.db.selectFrom('recoveryCodes').where('adminId', '=', admin.id).execute()
    expect(left).toEqual([])
    expect((await auditOf(api, admin.userName)).map(({ kind }) => kind)).toContain('ResetTOTP')
  })
})

describe('the theme', () => {
  it('is grape until another is saved; what is no theme counts as none', async () => {
    const standard = { Accent: 'grape', HighAccessibility: false, Logo: null, LightModeLogo: null }
    expect((await api.browser().get('/theme')).body).toEqual({ data: standard })
    await save('Accent', 'rose')
    await save('HighAccessibility', 'yes')
    expect((await api.browser().get('/theme')).body.data).toEqual({ ...standard, Accent: 'rose' })
  })
})

describe('the system status', () => {
  it('tells everybody which bundle is served', async () => {
    expect((await api.browser().get('/system_status')).body).toEqual({
      data: {
        IPApi: '',
        LookupPorts: [],
        IPv4Origin: '',
        IPv6Origin: '',
        JsBundleHash: 'bundle-1',
        OIDC: false,
        AdminOIDC: false,
        SAML: false,
        AdminSAML: false,
      },
    })
  })
})

describe('a kiosk’s time', () => {
  it('is the setting’s', async () => {
    await save('KioskSessionDuration', 7)
    const user = await aUser(api)
    await api.browser().post('/login', { UserName: user.userName, Password: rightPassword, KioskMode: true })
    const { createdAt, endsAt } = await api.db
      .selectFrom('sessions')
      .select(['createdAt', 'endsAt'])
      .where('userId', '=', user.id)
      .executeTakeFirstOrThrow()
    expect(Math.round((endsAt.getTime() - createdAt.getTime()) / 60_000)).toBe(7)
  })
})

describe('the admin’s status', () => {
  it('counts sessions, knocs and users, and tells the licence and what happened last', async () => {
    await aLicence(api, { userLimit: 10, overagePercentage: 25, sessionLimit: 3 })
    const admin = await signedInAdmin(api)
    const before = (await admin.get('/admin/status')).body.data
    const user = await aUser(api)
    await signedIn(api, user)
    const parent = await anAcl(api)
    await anAcl(api, { parentId: parent })
    await aUser(api, { deletedAt: new Date() })
    const { data } = (await admin.get('/admin/status')).body
    expect(data).toMatchObject({
      SessionComplete: true,
      UserName: admin.name,
      Name: 'Root',
      AuthType: 'local',
      Role: 'owner',
      Cloud: false,
      ServerVersion: '2.0.0',
      MinimumRequiredAgentVersion: { version: '2.0.0' },
      UserCount: before.UserCount + 1,
      ACLCount: before.ACLCount + 1,
      SessionCount: before.SessionCount + 1,
      Licensing: {
        Licensed: true,
        UserLimit: 10,
        UserLimitOverage: 2,
        UserLimitOveragePercentage: 25,
        SessionLimit: 3,
      },
      Warnings: [],
    })
    expect(data.Activity[0].Entry).toEqual({
      LoginUser: { UserName: user.userName, IpAddress: '198.51.100.7' },
    })
    expect(Math.abs(Date.parse(data.Now) - Date.now())).toBeLessThan(5000)
    const believed = await admin.get('/admin/status', { 'X-Knoc-Session': data.Session })
    expect(believed.status).toBe(200)
    expect((await admin.get('/admin/status', { 'X-Knoc-Session': before.Now })).status).toBe(409)
  })

  it('warns of plain http and of a proxy that nobody configured', async () => {
    const plain = await startPeopleApi({ KNOC_PUBLIC_URL: 'http://localhost:8080' })
    try {
      const user = await aUser(plain)
      await plain
        .browser('10.9.9.9')
        .post('/login', { UserName: user.userName, Password: rightPassword }, { Via: '1.1 proxy' })
      const admin = await signedInAdmin(plain)
      expect((await admin.get('/admin/status')).body.data.Warnings).toEqual([
        { Code: 'untrustedProxy', Extra: '10.9.9.9' },
        { Code: 'plainHttp', Extra: 'http://localhost:8080' },
      ])
    } finally {
      await plain.stop()
    }
  })

  it('is nobody else’s', async () => {
    const browser = await signedIn(api, await aUser(api))
    expect((await browser.get('/admin/status')).body).toEqual({ Err: 'err.invalidSession' })
    expect((await api.browser().get('/admin/status')).status).toBe(401)
  })
})
