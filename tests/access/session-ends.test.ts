import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepOnce } from '#server/entries/sweep.ts'
import { createGrantService } from '#server/grants/grant.service.ts'
import { createUserSession, endLeftBehind } from '#server/sessions/session.service.ts'
import { aKnoc, anAgent, entitle } from '#tests/support/builders.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { aLicence, aUser, rightPassword, signedIn, signedInAdmin } from '#tests/support/people-builders.ts'

/** Every way a session ends: the old cookie is worth nothing and its doors are ordered closed, at once. */

const address = '198.51.100.7'
const cookieName = '__Host-knoc_user'

let api: PeopleApi
let admin: Browser
let agentId: string

beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
  await aLicence(api)
  agentId = await anAgent(api.db)
  const grants = grantService()
  api.hook.run = async ({ client, extendedId, ...grantee }) => {
    await grants.follow(grantee, client, { hasJustBegun: true })
    if (extendedId !== null) await grants.takeOverClicks(grantee, { from: extendedId, client })
  }
})
afterAll(() => api.stop())

const grantService = () =>
  createGrantService({
    ...api.deps,
    db: api.db,
    gateway: { nudge: () => undefined, drop: async () => undefined },
    events: { publish: () => undefined, subscribe: () => () => undefined },
    isGrantable: () => true,
  })

/** Somebody who is signed in and whose door stands open without a click. */
async function withOpenDoor(columns: Parameters<typeof aUser>[1] = {}) {
  const user = await aUser(api, columns)
  const { aclId, targetId } = await aKnoc(api.db, { agentId, clickToGrant: false })
  await entitle(api.db, user.id, aclId)
  const browser = await signedIn(api, user)
  const session = await newestSession(user.id)
  expect(await desiredOf(targetId)).toBe('open')
  return { user, browser, session, aclId, targetId, oldCookie: browser.jar.get(cookieName) ?? '' }
}
type Someone = Awaited<ReturnType<typeof withOpenDoor>>

async function newestSession(userId: string): Promise<string> {
  const { id } = await api.db
    .selectFrom('sessions')
    .select('id')
    .where('userId', '=', userId)
    .orderBy('createdAt', 'desc')
    .executeTakeFirstOrThrow()
  return id
}

async function desiredOf(targetId: string): Promise<string | undefined> {
  const { rows } = await sql<{ desired: string }>`
    select desired from entries where target_id = ${targetId} and address = ${address}::inet`.execute(api.db)
  return rows[0]?.desired
}

/** What the old cookie is worth, in a browser that has nothing else. */
async function replay({ oldCookie }: Someone): Promise<[number, string | undefined]> {
  const thief = api.browser()
  thief.jar.set(cookieName, oldCookie)
  const { status, body } = await thief.get('/whoami')
  return [status, body.Err]
}

const etagOf = async (path: string) => (await admin.get(path)).headers.get('etag') ?? ''
const userBody = async ({ user }: Someone) => {
  const { Name, UserName } = (await admin.get(`/admin/users/${user.id}`)).body.data
  return { Name, UserName }
}

describe('a session ends, its old cookie is refused and its doors are ordered closed', () => {
  const ends: Record<string, (someone: Someone) => Promise<unknown>> = {
    'by logging out': ({ browser }) => browser.post('/logout'),
    'when an administrator ends it': ({ session }) => admin.delete(`/admin/sessions/${session}`),
    'when all sessions are invalidated': () => admin.delete('/admin/sessions'),
    'when the account is disabled': async (someone) =>
      admin.put(`/admin/users/${someone.user.id}`, { ...(await userBody(someone)), LoginEnabled: false }),
    'when the account is deleted': ({ user }) => admin.delete(`/admin/users/${user.id}`),
    'when an administrator sets a new password': async (someone) =>
      admin.put(`/admin/users/${someone.user.id}`, {
        ...(await userBody(someone)),
        PlainPassword: 'quite another horse 2',
      }),
    'when the second factor is reset': ({ user }) => admin.delete(`/admin/users/${user.id}/totpToken`),
    'when the user changes the password elsewhere': async ({ user }) => {
      const elsewhere = await signedIn(api, user, '203.0.113.99')
      return elsewhere.put('/password', {
        CurrentPassword: rightPassword,
        NewPassword: 'quite another horse 3',
      })
    },
    'at its own end': async ({ session }) => {
      await sql`update sessions set ends_at = now() where id = ${session}`.execute(api.db)
      await sql`update grants set ends_at = least(ends_at, now()) where session_id = ${session}`.execute(
        api.db,
      )
      await sweepOnce({ db: api.db, ...sweepDeps })
      return { status: 200 }
    },
    'when the browser signs in as somebody else': async ({ browser }) =>
      browser.post('/login', { UserName: (await aUser(api)).userName, Password: rightPassword }),
  }

  it.each(Object.entries(ends))('%s', async (_, end) => {
    const someone = await withOpenDoor()
    const { status } = (await end(someone)) as { status: number }
    expect(status).toBe(200)
    expect(await replay(someone)).toEqual([401, 'err.invalidSession'])
    expect(await desiredOf(someone.targetId)).toBe('closed')
  })

  it('when ValidUntil is set to now, at that instant', async () => {
    const someone = await withOpenDoor()
    const body = await userBody(someone)
    const ValidUntil = new Date(Date.now() - 1000).toISOString()
    expect((await admin.put(`/admin/users/${someone.user.id}`, { ...body, ValidUntil })).status).toBe(200)
    expect(await replay(someone)).toEqual([401, 'err.invalidSession'])
    expect(await desiredOf(someone.targetId)).toBe('closed')
  })

  it('when one more sign-in than the session limit permits comes: the oldest', async () => {
    const someone = await withOpenDoor({ sessionLimit: 1 })
    await signedIn(api, someone.user, '203.0.113.5')
    expect(await replay(someone)).toEqual([401, 'err.invalidSession'])
    expect(await desiredOf(someone.targetId)).toBe('closed')
  })
})

describe('access ends although the session goes on', () => {
  it('when the group that gave it is taken away from the user', async () => {
    const user = await aUser(api)
    const { aclId, targetId } = await aKnoc(api.db, { agentId, clickToGrant: false })
    const made = await admin.post('/admin/groups', {
      Name: `Group of ${user.userName}`,
      ACLIDs: [aclId],
      UserIDs: [user.id],
    })
    const path = `/admin/groups/${made.body.data.ID}`
    const browser = await signedIn(api, user)
    expect(await desiredOf(targetId)).toBe('open')
    const body = { Name: `Group of ${user.userName}`, UserIDs: [] }
    const { status } = await admin.put(path, body, { 'If-Match': await etagOf(path) })
    expect(status).toBe(200)
    expect(await desiredOf(targetId)).toBe('closed')
    expect((await browser.get('/whoami')).status).toBe(200)
  })
})

describe('signing in again before the end', () => {
  it('goes on with a new cookie: the old one is refused and no door was ordered closed in between', async () => {
    const someone = await withOpenDoor({ sessionLimit: 1 })
    const before = await generationOf(someone.targetId)
    const again = await someone.browser.post('/login', {
      UserName: someone.user.userName,
      Password: rightPassword,
    })
    expect(again.status).toBe(200)
    expect(await replay(someone)).toEqual([401, 'err.invalidSession'])
    expect((await someone.browser.get('/whoami')).status).toBe(200)
    expect(await desiredOf(someone.targetId)).toBe('open')
    // One order that prolongs at most: none that closes came between.
    expect((await generationOf(someone.targetId)) - before).toBeLessThanOrEqual(1)
    const { rows } = await sql<{ live: number }>`
      select count(*) as live from sessions
      where user_id = ${someone.user.id} and ended_at is null`.execute(api.db)
    expect(rows[0]?.live).toBe(1)
    expect(await endReasonOf(someone.session)).toBe('sessionExtended')
  })

  it('ends the old session although the process died before it did, and nothing else', async () => {
    const someone = await withOpenDoor()
    // Died as soon as the new session was committed, before it held anything.
    await createUserSession(api.deps, {
      userId: someone.user.id,
      kind: 'portal',
      kiosk: false,
      atMostMinutes: null,
      client: {
        address,
        untrustedProxy: null,
        userAgent: null,
        deviceTokens: { user: undefined, admin: undefined },
      },
      replaces: someone.oldCookie,
      act: async () => undefined,
    })
    await endLeftBehind(api.db, api.deps)
    expect(await endReasonOf(someone.session)).toBeNull()
    await sql`
      update sessions set extended_at = extended_at - interval '16 seconds'
      where id = ${someone.session}`.execute(api.db)
    await endLeftBehind(api.db, api.deps)
    expect(await endReasonOf(someone.session)).toBe('sessionExtended')
    expect(await replay(someone)).toEqual([401, 'err.invalidSession'])
    expect(await desiredOf(someone.targetId)).toBe('closed')
  })

  it('takes over what was clicked, unless it may not be had any more', async () => {
    const user = await aUser(api)
    const [kept, lost] = [await aKnoc(api.db, { agentId }), await aKnoc(api.db, { agentId })]
    for (const { aclId } of [kept, lost]) await entitle(api.db, user.id, aclId)
    const browser = await signedIn(api, user)
    const grantee = { id: await newestSession(user.id), userId: user.id, userName: user.userName }
    const client = { address, family: 4, viaUntrustedProxy: false } as const
    for (const { aclId } of [kept, lost])
      await grantService().grant(grantee, client, { ACLID: aclId, IPs: [] })
    await sql`delete from user_acls where user_id = ${user.id} and acl_id = ${lost.aclId}`.execute(api.db)

    await browser.post('/login', { UserName: user.userName, Password: rightPassword })
    expect([await desiredOf(kept.targetId), await desiredOf(lost.targetId)]).toEqual(['open', 'closed'])
  })

  it('is no way on for a public computer: the old session ends first', async () => {
    const someone = await withOpenDoor()
    await someone.browser.post('/login', {
      UserName: someone.user.userName,
      Password: rightPassword,
      KioskMode: true,
    })
    expect(await endReasonOf(someone.session)).toBe('logout')
  })
})

const sweepDeps = {
  gateway: { nudge: () => undefined, drop: async () => undefined },
  events: { publish: () => undefined, subscribe: () => () => undefined },
}

async function generationOf(targetId: string): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    select generation from entries where target_id = ${targetId} and address = ${address}::inet`.execute(
    api.db,
  )
  return rows[0]?.generation ?? 0
}

async function endReasonOf(sessionId: string): Promise<string | null | undefined> {
  const row = await api.db
    .selectFrom('sessions')
    .select('endedReason')
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return row?.endedReason
}
