import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { anAdmin, aUser, rightPassword, signedIn, signedInAdmin } from '#tests/support/people-builders.ts'

let api: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
})
afterAll(() => api.stop())

const deviceCookie = { user: '__Host-knoc_device_user', admin: '__Host-knoc_device_admin' } as const
type Realm = keyof typeof deviceCookie

const loginPath = { user: '/login', admin: '/admin/login' } as const
const wrong = (userName: string, peer: string) =>
  api.browser(peer).post('/login', { UserName: userName, Password: 'wrong' })
const signIn = (browser: Browser, userName: string, Password = rightPassword, realm: Realm = 'user') =>
  browser.post(loginPath[realm], { UserName: userName, Password })

/** Counts of a bucket, as if so many had failed. */
const fill = (bucket: string, failures: number) =>
  api.db
    .insertInto('failureCounters')
    .values({ bucket, failures, windowStartedAt: new Date() })
    .onConflict((conflict) =>
      conflict.column('bucket').doUpdateSet({ failures, windowStartedAt: new Date() }),
    )
    .execute()

/** A browser that has nothing but the device cookie of an earlier sign-in. */
function deviceOf(browser: Browser, peer: string, realm: Realm = 'user'): Browser {
  const device = api.browser(peer)
  device.jar.set(deviceCookie[realm], browser.jar.get(deviceCookie[realm]) ?? 'none')
  return device
}

describe('many wrong passwords', () => {
  it('make that address wait for that account, longer each time, and nobody else', async () => {
    const user = await aUser(api)
    for (let round = 0; round < 4; round += 1)
      expect((await wrong(user.userName, '203.0.113.90')).status).toBe(401)
    await holdWaits()
    const refused = await wrong(user.userName, '203.0.113.90')
    expect([refused.status, refused.body.Err]).toEqual([429, 'err.tooManyRequests'])
    expect(Number(refused.headers.get('Retry-After'))).toBe(Number(refused.body.Extra))
    expect(Number(refused.body.Extra)).toBeGreaterThanOrEqual(1)

    const right = { UserName: user.userName, Password: rightPassword }
    expect((await api.browser('203.0.113.90').post('/login', right)).status).toBe(429)
    expect((await api.browser('203.0.113.91').post('/login', right)).status).toBe(200)
    const neighbour = await aUser(api)
    expect(
      (
        await api
          .browser('203.0.113.90')
          .post('/login', { UserName: neighbour.userName, Password: rightPassword })
      ).status,
    ).toBe(200)
  })

  it('double the wait up to a quarter of an hour, and one right password ends it', async () => {
    const user = await aUser(api)
    const waits: number[] = []
    const unblock = () => api.db.updateTable('failureCounters').set({ blockedUntil: null }).execute()
    await unblock()
    for (let round = 1; round <= 14; round += 1) {
      expect((await wrong(user.userName, '203.0.113.95')).status).toBe(401)
      if (round > 3) waits.push(await longestWait())
      await unblock()
    }
    expect(waits.slice(0, 4)).toEqual([2, 4, 8, 16])
    expect(waits.at(-1)).toBe(900)

    await signedIn(api, user, '203.0.113.95')
    for (let round = 0; round < 3; round += 1)
      expect((await wrong(user.userName, '203.0.113.95')).status).toBe(401)
  })

  it('count as one client for a whole IPv6 /64', async () => {
    const user = await aUser(api)
    for (let host = 1; host <= 4; host += 1) await wrong(user.userName, `2001:db8:5:5::${host}`)
    expect((await wrong(user.userName, '2001:db8:5:5::99')).status).toBe(429)
    expect((await wrong(user.userName, '2001:db8:5:6::99')).status).toBe(401)
  })

  it('can’t be tried faster by trying at once', async () => {
    const user = await aUser(api)
    const answers = await Promise.all(Array.from({ length: 12 }, () => wrong(user.userName, '203.0.113.97')))
    expect(answers.filter(({ status }) => status === 401).length).toBe(4)
  })

  it('close an address for all accounts after 300 in 5 minutes; right ones don’t count', async () => {
    const user = await aUser(api)
    await wrong('somebody', '203.0.113.99')
    await signedIn(api, user, '203.0.113.99')
    const bucket = 'address user 203.0.113.99'
    const counter = () =>
      api.db.selectFrom('failureCounters').select('failures').where('bucket', '=', bucket).executeTakeFirst()
    expect(await counter()).toEqual({ failures: 1 })
    await api.db.updateTable('failureCounters').set({ failures: 300 }).where('bucket', '=', bucket).execute()
    const refused = await api
      .browser('203.0.113.99')
      .post('/login', { UserName: user.userName, Password: rightPassword })
    expect([refused.status, refused.body.Err]).toEqual([429, 'err.tooManyRequests'])
    await api.db
      .updateTable('failureCounters')
      .set({ windowStartedAt: new Date(Date.now() - 301_000) })
      .where('bucket', '=', bucket)
      .execute()
    await signedIn(api, user, '203.0.113.99')
  })

  it('count at the password dialog too', async () => {
    const browser = await signedIn(api, await aUser(api), '203.0.113.98')
    for (let round = 0; round < 4; round += 1)
      await browser.put('/password', { CurrentPassword: 'wrong', NewPassword: 'long enough' })
    await holdWaits()
    const refused = await browser.put('/password', {
      CurrentPassword: rightPassword,
      NewPassword: 'long enough',
    })
    expect([refused.status, refused.body.Err]).toEqual([429, 'err.tooManyRequests'])
  })
})

describe('a known device', () => {
  it('is remembered by a cookie that only https and no script can read, for 400 days', async () => {
    const user = await aUser(api)
    const login = await signIn(api.browser(), user.userName)
    const line = login.headers.getSetCookie().find((each) => each.startsWith(deviceCookie.user))
    expect(line).toMatch(
      /^__Host-knoc_device_user=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
  })

  it('is stored without what its cookie says', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const token = browser.jar.get(deviceCookie.user)
    const rows = await devicesOf('user', user.id)
    expect(rows.map(({ tokenHash }) => tokenHash)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    browser.jar.set(deviceCookie.user, rows[0]?.tokenHash ?? '')
    await failFor(user.userName, '203.0.113.11')
    expect((await signIn(deviceOf(browser, '203.0.113.11'), user.userName)).status).toBe(429)
    expect(token).not.toBe(rows[0]?.tokenHash)
  })

  it.each(['user', 'admin'] as const)(
    'lets its %s in while a stranger behind the same address has used up every limit',
    async (realm) => {
      const owner = realm === 'user' ? await aUser(api) : await anAdmin(api)
      const earlier = realm === 'user' ? await signedIn(api, owner) : await signedInAdmin(api, owner)
      const peer = '203.0.113.20'
      for (let round = 0; round < 4; round += 1)
        await signIn(api.browser(peer), owner.userName, 'wrong', realm)
      await fill(`address ${realm} ${peer}`, 300)
      expect((await signIn(api.browser(peer), owner.userName, rightPassword, realm)).status).toBe(429)

      const device = deviceOf(earlier, peer, realm)
      expect((await signIn(device, owner.userName, rightPassword, realm)).status).toBe(200)
      expect((await signIn(api.browser(peer), owner.userName, rightPassword, realm)).status).toBe(429)
    },
  )

  it('isn’t stopped by 300 wrong passwords of a neighbour', async () => {
    const owner = await aUser(api)
    const earlier = await signedIn(api, owner)
    const peer = '203.0.113.21'
    await fill(`address user ${peer}`, 299)
    expect((await wrong(`neighbour.${randomUUID()}`, peer)).status).toBe(401)
    expect((await wrong(`neighbour.${randomUUID()}`, peer)).status).toBe(429)
    expect((await signIn(deviceOf(earlier, peer), owner.userName.toUpperCase())).status).toBe(200)
  })

  it('has a growing wait of its own, which counts for nobody else', async () => {
    const owner = await aUser(api)
    const device = deviceOf(await signedIn(api, owner), '203.0.113.22')
    for (let round = 0; round < 4; round += 1)
      expect((await signIn(device, owner.userName, 'wrong')).status).toBe(401)
    await holdWaits()
    const refused = await signIn(device, owner.userName)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, refused.body.Extra])
    expect(await counterOf('address user 203.0.113.22')).toBeUndefined()
    expect((await signIn(api.browser('203.0.113.22'), owner.userName)).status).toBe(200)
  })

  it('is free again after one right password', async () => {
    const owner = await aUser(api)
    const device = deviceOf(await signedIn(api, owner), '203.0.113.23')
    for (let round = 0; round < 3; round += 1) await signIn(device, owner.userName, 'wrong')
    expect((await signIn(device, owner.userName)).status).toBe(200)
    for (let round = 0; round < 4; round += 1)
      expect((await signIn(device, owner.userName, 'wrong')).status).toBe(401)
  })

  it('gives nothing to whoever stole it for another account, or uses it in the other realm', async () => {
    const victim = await aUser(api)
    const admin = await anAdmin(api)
    const thief = await signedIn(api, await aUser(api))
    const peer = '203.0.113.24'
    await failFor(victim.userName, peer)
    expect((await signIn(deviceOf(thief, peer), victim.userName)).status).toBe(429)
    await fill(`address admin ${peer}`, 300)
    const crossed = api.browser(peer)
    crossed.jar.set(deviceCookie.admin, thief.jar.get(deviceCookie.user) ?? '')
    expect((await signIn(crossed, admin.userName, rightPassword, 'admin')).status).toBe(429)
  })

  it.each(['', 'x', 'a'.repeat(43), `${'a'.repeat(43)}=`, "' or true --"])(
    'isn’t made by a cookie of somebody’s invention: %s',
    async (value) => {
      const owner = await aUser(api)
      await failFor(owner.userName, '203.0.113.25')
      const browser = api.browser('203.0.113.25')
      browser.jar.set(deviceCookie.user, value)
      expect((await signIn(browser, owner.userName)).status).toBe(429)
    },
  )

  it('is none after a failure, after half a sign-in, and on a public computer', async () => {
    const user = await aUser(api)
    const half = await aUser(api, { totpEnabled: true })
    const halfAdmin = await anAdmin(api, { totpEnabled: true })
    for (const act of [
      (browser: Browser) => signIn(browser, user.userName, 'wrong'),
      (browser: Browser) => signIn(browser, half.userName),
      (browser: Browser) => signIn(browser, halfAdmin.userName, rightPassword, 'admin'),
      (browser: Browser) =>
        browser.post('/login', { UserName: user.userName, Password: rightPassword, KioskMode: true }),
    ]) {
      const browser = api.browser()
      await act(browser)
      expect([...browser.jar.keys()].filter((name) => name.includes('device'))).toEqual([])
    }
    expect(await devicesOf('user', user.id)).toEqual([])
    expect(await devicesOf('admin', halfAdmin.id)).toEqual([])
  })

  it('keeps its cookie at the next sign-in, and is seen then', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const token = browser.jar.get(deviceCookie.user)
    const long = new Date(Date.now() - 86_400_000)
    await api.db.updateTable('knownDevices').set({ seenAt: long }).where('userId', '=', user.id).execute()
    await browser.post('/logout')
    const again = await signIn(browser, user.userName)
    expect(again.headers.getSetCookie().join()).toContain(`${deviceCookie.user}=${token}; Max-Age=34560000`)
    const rows = await devicesOf('user', user.id)
    expect(rows.map(({ seenAt }) => seenAt > long)).toEqual([true])
  })

  it('gets a cookie of its own for each account that signs in on it', async () => {
    const [one, other] = [await aUser(api), await aUser(api)]
    const browser = await signedIn(api, one)
    const token = browser.jar.get(deviceCookie.user)
    await signIn(browser, other.userName)
    expect(browser.jar.get(deviceCookie.user)).not.toBe(token)
    expect(
      [await devicesOf('user', one.id), await devicesOf('user', other.id)].map(({ length }) => length),
    ).toEqual([1, 1])
  })

  it('is one of at most twenty of an account: the one not seen for longest goes', async () => {
    const user = await aUser(api)
    const first = await signedIn(api, user)
    const second = await signedIn(api, user)
    const firstDevice = deviceOf(first, '203.0.113.27')
    await signIn(firstDevice, user.userName)
    const others = Array.from({ length: 18 }, () => ({ userId: user.id, tokenHash: randomUUID() }))
    await api.db.insertInto('knownDevices').values(others).execute()
    await signedIn(api, user)
    expect(await devicesOf('user', user.id)).toHaveLength(20)
    await failFor(user.userName, '203.0.113.27')
    expect((await signIn(deviceOf(second, '203.0.113.27'), user.userName)).status).toBe(429)
    expect((await signIn(deviceOf(first, '203.0.113.27'), user.userName)).status).toBe(200)
  })

  it('changes its owner’s password while its address is used up', async () => {
    const browser = await signedIn(api, await aUser(api), '203.0.113.28')
    await fill('address user 203.0.113.28', 300)
    const change = { CurrentPassword: rightPassword, NewPassword: 'a long new one 7' }
    const known = await browser.put('/password', { ...change, CurrentPassword: 'wrong' })
    expect(known.status).toBe(401)
    const device = browser.jar.get(deviceCookie.user) ?? ''
    browser.jar.delete(deviceCookie.user)
    expect((await browser.put('/password', change)).status).toBe(429)
    browser.jar.set(deviceCookie.user, device)
    expect((await browser.put('/password', change)).status).toBe(200)
  })

  it('is forgotten with its account', async () => {
    const user = await aUser(api)
    const device = deviceOf(await signedIn(api, user), '203.0.113.29')
    await api.db.updateTable('users').set({ deletedAt: new Date() }).where('id', '=', user.id).execute()
    await api.db
      .insertInto('users')
      .values({ name: 'Another', userName: user.userName, authType: 'local' })
      .execute()
    await failFor(user.userName, '203.0.113.29')
    expect((await signIn(device, user.userName)).status).toBe(429)
  })
})

describe('two replicas', () => {
  it('share what they count, of strangers and of known devices', async () => {
    const other = await startPeopleApi({}, api.database)
    const user = await aUser(api)
    const earlier = await signedIn(api, user)
    const peer = '203.0.113.30'
    for (const replica of [api, other, api, other])
      expect((await signIn(replica.browser(peer), user.userName, 'wrong')).status).toBe(401)
    await holdWaits()
    for (const replica of [api, other])
      expect((await signIn(replica.browser(peer), user.userName)).status).toBe(429)

    const deviceAt = (replica: PeopleApi) => {
      const device = replica.browser(peer)
      device.jar.set(deviceCookie.user, earlier.jar.get(deviceCookie.user) ?? '')
      return device
    }
    expect((await signIn(deviceAt(other), user.userName)).status).toBe(200)
    for (const replica of [api, other, api, other])
      expect((await signIn(deviceAt(replica), user.userName, 'wrong')).status).toBe(401)
    await holdWaits()
    for (const replica of [api, other])
      expect((await signIn(deviceAt(replica), user.userName)).status).toBe(429)
  })
})

describe('a public URL in plain http', () => {
  it('has a device cookie without prefix and Secure', async () => {
    const plain = await startPeopleApi({ KNOC_PUBLIC_URL: 'http://localhost:8080' })
    try {
      const user = await aUser(plain)
      const browser = plain.browser()
      const { headers } = await signIn(browser, user.userName)
      expect(headers.getSetCookie().join()).toMatch(
        /knoc_device_user=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax/,
      )
      await plain.db
        .insertInto('failureCounters')
        .values({ bucket: 'address user 198.51.100.7', failures: 300, windowStartedAt: new Date() })
        .execute()
      expect((await signIn(plain.browser(), user.userName)).status).toBe(429)
      expect((await signIn(browser, user.userName)).status).toBe(200)
    } finally {
      await plain.stop()
    }
  })
})

/** Somebody fails for an account at an address until it has to wait. */
async function failFor(userName: string, peer: string): Promise<void> {
  for (let round = 0; round < 4; round += 1) await wrong(userName, peer)
  await holdWaits()
}

/** Seconds that the wait which has begun was set to. */
async function longestWait(): Promise<number> {
  const rows = await api.db
    .selectFrom('failureCounters')
    .select(['blockedUntil', 'windowStartedAt'])
    .where('blockedUntil', 'is not', null)
    .execute()
  const waits = rows.map((row) => Number(row.blockedUntil) - Number(row.windowStartedAt))
  return Math.max(...waits) / 1000
}

/** Makes the waits that have begun last, so that a slow machine doesn't outwait them. */
const holdWaits = () =>
  api.db
    .updateTable('failureCounters')
    .set({ blockedUntil: new Date(Date.now() + 600_000) })
    .where('blockedUntil', 'is not', null)
    .execute()

const counterOf = (bucket: string) =>
  api.db.selectFrom('failureCounters').select('failures').where('bucket', '=', bucket).executeTakeFirst()

const devicesOf = (realm: Realm, id: string) =>
  api.db
    .selectFrom('knownDevices')
    .select(['tokenHash', 'seenAt'])
    .where(realm === 'user' ? 'userId' : 'adminId', '=', id)
    .execute()
