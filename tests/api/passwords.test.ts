import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureFirstAdmin } from '#server/admins/first-admin.ts'
import { resetAdminPassword } from '#server/admins/reset-admin.ts'
import { Secret } from '#server/platform/secret.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  aLicence,
  anAdmin,
  aUser,
  rightPassword,
  signedIn,
  signedInAdmin,
} from '#tests/support/people-builders.ts'

let api: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
  await aLicence(api)
})
afterAll(() => api.stop())

type Answer = Awaited<ReturnType<Browser['post']>>
/** Somebody's try to set a password: for which name, and how. */
type Attempt = { userName: string; field: string; set: (password: string) => Promise<Answer> }

/** Every place of the API that takes a new password. */
const places: [string, () => Promise<Attempt>][] = [
  [
    'the portal’s own password',
    async () => {
      const user = await aUser(api)
      const browser = await signedIn(api, user)
      const set = (NewPassword: string) =>
        browser.put('/password', { CurrentPassword: rightPassword, NewPassword })
      return { userName: user.userName, field: 'NewPassword', set }
    },
  ],
  [
    'the console’s own password',
    async () => {
      const browser = await signedInAdmin(api)
      const set = (NewPassword: string) =>
        browser.post('/password', { ExistingPassword: rightPassword, NewPassword })
      return { userName: browser.name, field: 'NewPassword', set }
    },
  ],
  ...(['users', 'admins'] as const).flatMap((people): [string, () => Promise<Attempt>][] => [
    [
      `a new one of the ${people}`,
      async () => {
        const browser = await signedInAdmin(api)
        const userName = `new.${Math.random().toString(36).slice(2)}`
        const set = (PlainPassword: string) =>
          browser.post(`/admin/${people}`, {
            Name: 'New',
            UserName: userName,
            AuthType: 'local',
            PlainPassword,
          })
        return { userName, field: 'PlainPassword', set }
      },
    ],
    [
      `a changed one of the ${people}`,
      async () => {
        const browser = await signedInAdmin(api)
        const { id, userName } = await (people === 'users' ? aUser : anAdmin)(api)
        const set = (PlainPassword: string) =>
          browser.put(`/admin/${people}/${id}`, { Name: 'Changed', PlainPassword })
        return { userName, field: 'PlainPassword', set }
      },
    ],
  ]),
]

describe.each(places)('a new password: %s', (_, arrange) => {
  let attempt: Attempt
  beforeAll(async () => {
    attempt = await arrange()
  })
  const refused = (code: string) => [422, { Err: code, Extra: attempt.field }]
  const set = async (password: string) => {
    const { status, body } = await attempt.set(password)
    return [status, body]
  }

  it.each(['', '1234567', 'ß🙂🙂🙂🙂🙂🙂', 'x'.repeat(65), '🙂'.repeat(65)])(
    'has 8 to 64 characters, not %j',
    async (password) => {
      // An empty one is left out of a change in the console.
      if (password === '' && attempt.field === 'PlainPassword') return
      expect(await set(password)).toEqual(refused('err.passwordLength'))
    },
  )

  it.each(['password1', 'PassWord1', 'trustno1', 'ｐａｓｓｗｏｒｄ'])(
    'is none that leaked: %s',
    async (password) => {
      expect(await set(password)).toEqual(refused('err.passwordLeaked'))
    },
  )

  it('isn’t the user name', async () => {
    expect(await set(attempt.userName.toUpperCase())).toEqual(refused('err.passwordIsUserName'))
  })

  it('may be 64 characters of any kind, and works', async () => {
    const password = '🙂ß'.repeat(32)
    const [status] = await set(password)
    expect([200, 201]).toContain(status)
    for (const path of ['/login', '/admin/login']) {
      const login = await api.browser().post(path, { UserName: attempt.userName, Password: password })
      if (login.status === 200) return
    }
    throw new Error('the new password lets nobody in')
  })
})

describe('a new password outside of the API', () => {
  it('on the command line: the same rules', async () => {
    const { userName } = await anAdmin(api)
    const deps = { db: api.db, passwords: api.deps.passwords }
    for (const [newPassword, code] of [
      ['short', 'err.passwordLength'],
      ['password1', 'err.passwordLeaked'],
      [userName, 'err.passwordIsUserName'],
    ] as const)
      await expect(resetAdminPassword(deps, { userName, newPassword })).rejects.toMatchObject({ code })
    const login = await api.browser().post('/admin/login', { UserName: userName, Password: rightPassword })
    expect(login.status).toBe(200)
  })

  it('in the environment: one that leaked is taken at the first start, with a warning', async () => {
    const other = await startPeopleApi()
    try {
      const warned: unknown[] = []
      const log = { ...api.deps.log, warn: (...said: unknown[]) => void warned.push(...said) } as never
      const config = { adminUsername: 'boss', adminPassword: new Secret('password1') }
      await ensureFirstAdmin({ ...other.deps, log, config }, () => undefined)
      expect(String(warned)).toMatch(/leaked/)
      expect(String(warned)).not.toMatch(/password1/)
      const login = { UserName: 'boss', Password: 'password1' }
      expect((await other.browser().post('/admin/login', login)).status).toBe(200)
    } finally {
      await other.stop()
    }
  })
})
