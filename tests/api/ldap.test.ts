import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findUserAccountById } from '#server/auth/account.store.ts'
import { withDirectory } from '#server/auth/ldap/directory.ts'
import { ldapSource } from '#server/auth/ldap/ldap-source.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { aGrant, aLicence, anAcl, anAdmin, aUser, auditOf, endOf } from '#tests/support/people-builders.ts'
import {
  base,
  directoryPasswordOf,
  dnOf,
  type Slapd,
  serviceDn,
  servicePassword,
  startSlapd,
} from '#tests/support/slapd.ts'

const canRun = requireProgram('slapd') && requireProgram('ldapwhoami') && requireProgram('openssl')

describe.skipIf(!canRun)('signing in with a directory', () => {
  let api: PeopleApi
  let slapd: Slapd
  beforeAll(async () => {
    ;[api, slapd] = await Promise.all([startPeopleApi(), startSlapd()])
  })
  afterAll(async () => {
    await slapd?.stop()
    await api?.stop()
  })
  beforeEach(() => configure({ LDAPURL: slapd.url }))

  const ldap = { authType: 'LDAP', passwordHash: null }
  const searching = () => ({
    LDAPURL: slapd.url,
    LDAPBindDN: serviceDn,
    LDAPBindPassword: servicePassword,
    LDAPSearchBase: `ou=people,${base}`,
  })
  const wrong = { status: 401, code: 'err.invalidCredentials' }
  const away = { status: 503, code: 'err.directoryUnavailable' }

  /** Settings → Authentication, these and no others. */
  async function configure(settings: Record<string, string | boolean>): Promise<void> {
    const place = { table: 'settings', column: 'value', id: 'LDAPBindPassword' }
    await api.db.deleteFrom('settings').where('name', 'like', 'LDAP%').execute()
    for (const [name, value] of Object.entries(settings)) {
      const stored = name === place.id ? api.deps.sealer.seal(String(value), place) : value
      await api.db
        .insertInto('settings')
        .values({ name, value: JSON.stringify(stored) })
        .execute()
    }
  }

  /** A user with a name that is free again after the test before, and nobody has to wait. */
  async function person(userName: string, columns: Parameters<typeof aUser>[1] = {}) {
    await api.db.deleteFrom('failureCounters').execute()
    await api.db
      .updateTable('users')
      .set({ deletedAt: new Date() })
      .where('userName', '=', userName)
      .execute()
    return aUser(api, { ...ldap, userName, thirdPartyAuth: dnOf(userName), ...columns })
  }

  async function signIn(userName: string, password = directoryPasswordOf(userName), path = '/login') {
    const browser = api.browser()
    const { status, body } = await browser.post(path, { UserName: userName, Password: password })
    return { status, code: body.Err as string | undefined, browser, data: body.data }
  }

  it.each<[string, () => Record<string, string | boolean>]>([
    ['ldap', () => ({ LDAPURL: slapd.url })],
    ['ldaps, its certificate unchecked', () => ({ LDAPURL: slapd.tlsUrl, LDAPSkipVerifyTLS: true })],
    ['StartTLS, unchecked', () => ({ LDAPURL: slapd.url, LDAPStartTLS: true, LDAPSkipVerifyTLS: true })],
    ['a Unix socket', () => ({ LDAPURL: slapd.socketUrl })],
    ['search-then-bind', searching],
    [
      'search-then-bind over StartTLS',
      () => ({ ...searching(), LDAPStartTLS: true, LDAPSkipVerifyTLS: true }),
    ],
  ])('lets a user and an administrator in by %s, and nobody with a wrong password', async (_, settings) => {
    await configure(settings())
    const user = await person('ada')
    expect(await signIn('ada')).toMatchObject({ status: 200 })
    expect(await signIn('ada', 'wrong')).toMatchObject(wrong)
    expect((await auditOf(api, 'ada')).map(({ kind }) => kind).slice(-2)).toEqual([
      'LoginUser',
      'LoginFailed',
    ])
    expect(user.userName).toBe('ada')

    await api.db.deleteFrom('admins').where('userName', '=', 'grace').execute()
    await anAdmin(api, { ...ldap, userName: 'grace', thirdPartyAuth: dnOf('grace') })
    const admin = await signIn('grace', undefined, '/admin/login')
    expect(admin.status).toBe(200)
    expect((await admin.browser.get('/admin/users')).status).toBe(200)
    expect(await signIn('grace', 'wrong', '/admin/login')).toMatchObject(wrong)
  })

  it.each<[string, () => Record<string, string | boolean>]>([
    ['ldaps', () => ({ LDAPURL: slapd.tlsUrl })],
    ['StartTLS', () => ({ LDAPURL: slapd.namedUrl, LDAPStartTLS: true })],
  ])('trusts no certificate over %s that nobody it knows has signed', async (_, settings) => {
    await configure(settings())
    await person('ada')
    expect(await signIn('ada')).toMatchObject(away)
  })

  it('trusts an authority that NODE_EXTRA_CA_CERTS names, for the host that its certificate is for', () => {
    const tried = (url: string, startTls: boolean) => {
      const code = `import { tryDirectory } from '${new URL('../../server/auth/ldap/try-directory.ts', import.meta.url)}'
        const settings = { url: '${url}', startTls: ${startTls}, skipVerifyTls: false, service: null }
        await tryDirectory(settings).then(() => console.log('ok'), (error) => console.log(error.code))`
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: slapd.authorityFile }
      return spawnSync(process.execPath, ['eval', '--quiet', '--ext=ts', code], { env })
        .stdout.toString()
        .trim()
    }
    expect(tried(slapd.tlsUrl, false)).toBe('ok')
    expect(tried(slapd.namedUrl, true)).toBe('ok')
    expect(tried(slapd.tlsUrl.replace('localhost', '127.0.0.1'), false)).toBe('err.directoryUnavailable')
    expect(tried(slapd.url, true)).toBe('err.directoryUnavailable')
  })

  it('refuses by itself, without asking, a password that a directory may take for none', async () => {
    let asked = 0
    const yesMan = createServer((socket) => {
      asked += 1
      socket.on('data', () => socket.write(Buffer.from('300c02010261070a010004000400', 'hex')))
    }).listen(0, '127.0.0.1')
    await once(yesMan, 'listening')
    await configure({ LDAPURL: `ldap://127.0.0.1:${(yesMan.address() as { port: number }).port}` })
    for (const password of [' ', '\u0000', 'a\u0000', '\u200b\u00ad', '\t']) {
      await person('ada')
      expect(await signIn('ada', password), JSON.stringify(password)).toMatchObject(wrong)
    }
    expect(await signIn('ada', '')).toMatchObject({ status: 422, code: 'err.invalidField' })
    expect(asked).toBe(0)
    expect(await signIn('ada', 'anything else')).toMatchObject({ status: 200 })
    yesMan.close()
  })

  it('refuses no password at all, which this directory takes', async () => {
    const { id } = await person('ada')
    const account = await findUserAccountById(api.db, id)
    expect(await ldapSource(api.deps).prove(account, '')).toEqual({ isRight: false })
    const channel = { url: slapd.url, startTls: false, skipVerifyTls: false }
    await withDirectory(channel, (client) => client.bind(dnOf('ada'), ''))
  })

  it.each([
    ['has no password there', () => person('without'), wrong],
    ['isn’t there', () => person('nobody'), wrong],
    ['has a name that isn’t one', () => person('ada', { thirdPartyAuth: 'EXTERNAL' }), wrong],
    ['has no name', () => person('ada', { thirdPartyAuth: null }), wrong],
    [
      'is disabled here',
      () => person('ada', { loginEnabled: false }),
      { status: 403, code: 'err.accountDisabled' },
    ],
  ])('refuses whoever %s', async (_, make, refusal) => {
    const { userName } = await make()
    expect(await signIn(userName)).toMatchObject(refusal)
  })

  it('refuses everybody like a wrong password while no directory is configured', async () => {
    await configure({})
    await person('ada')
    expect(await signIn('ada')).toMatchObject(wrong)
  })

  it('asks for the second factor as anywhere else', async () => {
    await person('ada', { totpEnabled: true })
    const { status, code, browser } = await signIn('ada')
    expect([status, code]).toEqual([403, 'err.totpEnrolmentRequired'])
    expect((await browser.get('/whoami')).body.Err).toBe('err.totpEnrolmentRequired')
    expect(await signIn('ada', 'wrong')).toMatchObject(wrong)
  })

  describe('by searching first', () => {
    it('finds a person by the settings’ filter, without a DN in the account', async () => {
      await configure({ ...searching(), LDAPUserFilter: '(&(objectClass=inetOrgPerson)(mail={username}))' })
      await person('ada@example.test', { thirdPartyAuth: null })
      expect(await signIn('ada@example.test', directoryPasswordOf('ada'))).toMatchObject({ status: 200 })
    })

    it('takes a DN written in another way for the same, and no other', async () => {
      await configure(searching())
      await person('ada', { thirdPartyAuth: `UID=Ada, OU=People, ${base}` })
      expect(await signIn('ada')).toMatchObject({ status: 200 })
      await person('ada', { thirdPartyAuth: dnOf('grace') })
      expect(await signIn('ada')).toMatchObject(wrong)
      expect(await signIn('ada', directoryPasswordOf('grace'))).toMatchObject(wrong)
    })

    it('refuses a name that finds two', async () => {
      await configure({ ...searching(), LDAPUserFilter: '(mail={username})' })
      await person('twins@example.test', { thirdPartyAuth: null })
      for (const twin of ['twin-one', 'twin-two'])
        expect(await signIn('twins@example.test', directoryPasswordOf(twin))).toMatchObject(wrong)
    })

    it.each(['*)(uid=*', '*', 'ada)(uid=ada', 'a*', '{username}'])(
      'looks for nobody else when the name is %s',
      async (userName) => {
        await configure(searching())
        await person(userName, { thirdPartyAuth: null })
        expect(await signIn(userName, directoryPasswordOf('ada'))).toMatchObject(wrong)
      },
    )

    it.each<[string, Record<string, string>]>([
      ['the service account’s password is wrong', { LDAPBindPassword: 'wrong' }],
      ['the search base isn’t there', { LDAPSearchBase: 'ou=nowhere,dc=example,dc=test' }],
    ])('says that the directory can’t be asked when %s, and counts no failure', async (_, settings) => {
      await configure({ ...searching(), ...settings })
      await person('grace')
      for (let round = 0; round < 5; round += 1) expect(await signIn('grace')).toMatchObject(away)
      await configure(searching())
      expect(await signIn('grace')).toMatchObject({ status: 200 })
    })
  })

  describe('with groups', () => {
    const grouped = (settings: Record<string, string> = {}) => ({
      ...searching(),
      LDAPSearchBase: base,
      LDAPGroupFilter: '(member={dn})',
      ...settings,
    })
    const group = async (name: string, type: string) => {
      const { id } = await api.db
        .insertInto('groups')
        .values({ name, type })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    }
    const groupsOf = async (userId: string) =>
      (
        await api.db
          .selectFrom('groupMembers')
          .innerJoin('groups', 'groups.id', 'groupMembers.groupId')
          .select('groups.name')
          .where('userId', '=', userId)
          .execute()
      ).map(({ name }) => name)

    it('joins those of its name, and loses what they gave when the directory’s is gone', async () => {
      await configure(grouped())
      await aLicence(api)
      const [netops] = [await group('netops', 'saml'), await group('Second floor', 'local')]
      const aclId = await anAcl(api)
      await api.db.insertInto('groupAcls').values({ groupId: netops, aclId }).execute()
      const user = await person('ada')
      expect(await signIn('ada')).toMatchObject({ status: 200 })
      expect(await groupsOf(user.id)).toEqual(['netops'])
      const grant = await aGrant(api, user.id, aclId)

      slapd.modify(
        `dn: cn=NetOps,ou=groups,${base}\nchangetype: modify\ndelete: member\nmember: ${dnOf('ada')}\n`,
      )
      expect(await signIn('ada')).toMatchObject({ status: 200 })
      expect(await groupsOf(user.id)).toEqual([])
      expect((await endOf(api, grant)).endedReason).not.toBeNull()
    })

    it('reads them as the person when there is no service account', async () => {
      await configure({ LDAPURL: slapd.url, LDAPSearchBase: base, LDAPGroupFilter: '(member={dn})' })
      await group('NETOPS ', 'dynamic').catch(() => undefined)
      const user = await person('grace')
      expect(await signIn('grace')).toMatchObject({ status: 200 })
      expect(await groupsOf(user.id)).toEqual(['netops'])
    })

    it('leaves memberships as they are without a group filter', async () => {
      await configure(grouped())
      const user = await person('grace')
      await signIn('grace')
      await configure(searching())
      expect(await signIn('grace')).toMatchObject({ status: 200 })
      expect(await groupsOf(user.id)).toEqual(['netops'])
    })
  })

  it('answers within 5 s when the directory hangs, and takes it for nobody’s failure', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    await configure({ LDAPURL: `ldap://127.0.0.1:${(server.address() as { port: number }).port}` })
    await person('ada')
    const began = performance.now()
    const [user, admin] = await Promise.all([
      signIn('ada'),
      anAdmin(api, { ...ldap, thirdPartyAuth: dnOf('ada') }).then(({ userName }) =>
        signIn(userName, 'a password', '/admin/login'),
      ),
    ])
    expect(performance.now() - began).toBeLessThan(5500)
    expect(user).toMatchObject(away)
    const failures = (await auditOf(api, 'ada')).filter(({ kind }) => kind === 'LoginFailed')
    expect(failures.at(-1)?.fields.ErrorMessage).toBe('err.directoryUnavailable')
    expect(admin).toMatchObject(away)
    const counted = await api.db.selectFrom('failureCounters').select('failures').execute()
    expect(counted.filter(({ failures }) => failures > 0)).toEqual([])
    server.close()
  })
})
