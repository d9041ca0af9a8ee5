import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepOnce } from '#server/entries/sweep.ts'
import type { AclStatus } from '#server/status/status.schema.ts'
import { aKnoc, anAgent, entitle } from '#tests/support/builders.ts'
import { type DiscoveryApi, startDiscoveryApi, statusOf } from '#tests/support/discovery-api.ts'

let api: DiscoveryApi
let agentId: string
beforeAll(async () => {
  api = await startDiscoveryApi()
  agentId = await anAgent(api.db)
})
afterAll(() => api.stop())

/** Addresses that nobody else in these tests has. */
let last = 0
const anAddress = () => `198.51.100.${++last}`

type Person = Awaited<ReturnType<DiscoveryApi['aPerson']>>

const entryOf = async (person: Person, aclId: string): Promise<AclStatus> => {
  const { ACLs } = await statusOf(person)
  const entry = ACLs.find((acl: AclStatus) => acl.ACLID === aclId)
  if (entry === undefined) throw new Error(`${aclId} is not in the status`)
  return entry
}
const numberOf = async (person: Person, aclId: string) => (await entryOf(person, aclId)).Status

/** A list that firewalls fetch: a backend without an agent, and its one target of IPv4 addresses. */
async function aList(): Promise<{ aclId: string; targetId: string }> {
  const { db } = api
  const backend = await db
    .insertInto('backends')
    .values({ name: 'list', type: 'allowlist' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const acl = await db
    .insertInto('acls')
    .values({ description: `List ${backend.id}`, backendId: backend.id, clickToGrant: true })
    .returning('id')
    .executeTakeFirstOrThrow()
  const target = await db
    .insertInto('targets')
    .values({
      key: `allowlist:${acl.id}:4`,
      backendId: backend.id,
      type: 'allowlist',
      family: 4,
      expiry: 'native',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db.insertInto('aclTargets').values({ aclId: acl.id, family: 4, targetId: target.id }).execute()
  return { aclId: acl.id, targetId: target.id }
}

/** A firewall reads the list, so long ago: what was ordered is what it has seen. */
async function readList(
  list: { aclId: string; targetId: string },
  { consumer = 'fw-1', secondsAgo = 0, previousSecondsAgo = null as number | null } = {},
): Promise<void> {
  await sql`
    update entries set applied_generation = generation, applied_desired = desired, seen_at = now()
    where target_id = ${list.targetId}`.execute(api.db)
  await sql`
    insert into list_reads (acl_id, consumer, etag, read_at, previous_read_at)
    values (${list.aclId}, ${consumer}, 'e', now() - make_interval(secs => ${secondsAgo}),
      now() - make_interval(secs => ${previousSecondsAgo}::float8))
    on conflict (acl_id, consumer) do update set read_at = excluded.read_at,
      previous_read_at = excluded.previous_read_at`.execute(api.db)
}

const secondsFromNow = (instant: string | null) =>
  instant === null ? null : (Date.parse(instant) - Date.now()) / 1_000

describe('passive: 4 → 6 → 5, and 8 → 9 after a revoke', () => {
  it('goes through them as lists are read', async () => {
    const list = await aList()
    const person = await api.aPerson(anAddress(), [list])
    expect(await entryOf(person, list.aclId)).toMatchObject({
      Status: 4,
      Passive: true,
      ListReadAt: null,
      NextReadAt: null,
      ExpiredAfter: null,
    })

    expect((await person.post('/grant', { ACLID: list.aclId })).body.data.Status).toBe(6)
    const published = await entryOf(person, list.aclId)
    expect(published).toMatchObject({ Status: 6, ListReadAt: null, VerifiedAt: null })
    expect(secondsFromNow(published.ExpiredAfter)).toBeGreaterThan(0)

    await readList(list)
    const read = await entryOf(person, list.aclId)
    expect(read.Status).toBe(5)
    expect(secondsFromNow(read.ListReadAt)).toBeCloseTo(0, -1)
    expect(read.NextReadAt).toBeNull()

    const revoked = await person.delete(`/sessions/current/granted-acls/${list.aclId}`)
    expect(revoked.body.data.Status).toBe(8)
    expect(await entryOf(person, list.aclId)).toMatchObject({ Status: 8, ExpiredAfter: null })
    await readList(list)
    expect(await numberOf(person, list.aclId)).toBe(9)
  })

  it('a revoke before the list was ever read leads to 9 at once; a new grant at 8 leads to 6', async () => {
    const [unread, read] = [await aList(), await aList()]
    const person = await api.aPerson(anAddress(), [unread, read])
    for (const { aclId } of [unread, read]) await person.post('/grant', { ACLID: aclId })
    await readList(read)
    const revoke = async ({ aclId }: { aclId: string }) =>
      (await person.delete(`/sessions/current/granted-acls/${aclId}`)).body.data.Status
    expect(await revoke(unread)).toBe(9)
    expect(await revoke(read)).toBe(8)
    expect((await person.post('/grant', { ACLID: read.aclId })).body.data.Status).toBe(6)
    await readList(read)
    expect(await numberOf(person, read.aclId)).toBe(5)
  })

  it('another’s address on the same list is read apart: one at 5, one at 6, and each revokes his own', async () => {
    const list = await aList()
    const first = await api.aPerson(anAddress(), [list])
    await first.post('/grant', { ACLID: list.aclId })
    await readList(list)
    const second = await api.aPerson(anAddress(), [list])
    await second.post('/grant', { ACLID: list.aclId })
    expect([await numberOf(first, list.aclId), await numberOf(second, list.aclId)]).toEqual([5, 6])
    await first.delete(`/sessions/current/granted-acls/${list.aclId}`)
    expect([await numberOf(first, list.aclId), await numberOf(second, list.aclId)]).toEqual([8, 6])
    await readList(list)
    expect([await numberOf(first, list.aclId), await numberOf(second, list.aclId)]).toEqual([9, 5])
  })

  it('a reading moves the grants that it carried: one that came after it, at the same address, waits for the next', async () => {
    const list = await aList()
    const address = anAddress()
    const first = await api.aPerson(address, [list])
    await first.post('/grant', { ACLID: list.aclId })
    await readList(list)
    const second = await api.aPerson(address, [list])
    await second.post('/grant', { ACLID: list.aclId })
    expect([await numberOf(first, list.aclId), await numberOf(second, list.aclId)]).toEqual([5, 6])
    await readList(list)
    expect([await numberOf(first, list.aclId), await numberOf(second, list.aclId)]).toEqual([5, 5])
    // The other still holds it: nothing has to be read again before it is revoked.
    await second.delete(`/sessions/current/granted-acls/${list.aclId}`)
    expect([await numberOf(first, list.aclId), await numberOf(second, list.aclId)]).toEqual([5, 9])
  })

  it('the end of the grant takes it off the list too: 5 → 8 → 9', async () => {
    const list = await aList()
    const person = await api.aPerson(anAddress(), [list])
    await person.post('/grant', { ACLID: list.aclId })
    await readList(list)
    await sql`update grants set ends_at = now() - interval '1 second' where acl_id = ${list.aclId}`.execute(
      api.db,
    )
    await sweepOnce({
      db: api.db,
      gateway: { nudge: () => undefined },
      events: { publish: () => undefined },
    })
    expect(await numberOf(person, list.aclId)).toBe(8)
    await readList(list)
    expect(await numberOf(person, list.aclId)).toBe(9)
  })

  it('tells the last reading of any firewall, and the next one of the firewall that is due first', async () => {
    const list = await aList()
    const person = await api.aPerson(anAddress(), [list])
    await readList(list, { consumer: 'fw-1', secondsAgo: 100, previousSecondsAgo: 400 })
    await readList(list, { consumer: 'fw-2', secondsAgo: 20, previousSecondsAgo: 80 })
    const { ListReadAt, NextReadAt } = await entryOf(person, list.aclId)
    expect(secondsFromNow(ListReadAt)).toBeCloseTo(-20, -1)
    expect(secondsFromNow(NextReadAt)).toBeCloseTo(40, -1)
    // One that has missed its time says nothing about the next.
    await readList(list, { consumer: 'fw-2', secondsAgo: 70, previousSecondsAgo: 130 })
    const later = await entryOf(person, list.aclId)
    expect(secondsFromNow(later.ListReadAt)).toBeCloseTo(-70, -1)
    expect(secondsFromNow(later.NextReadAt)).toBeCloseTo(200, -1)
  })
})

describe('DisableForUser is the server’s answer ‘restricted here and now’, RestrictedBy says why', () => {
  const inside = '10.7.7.7'
  const range = (startAddress: string, endAddress: string) => ({ startAddress, endAddress })
  const around = range('198.51.100.0', '198.51.100.255')

  it.each([
    ['none', 'allow', inside, [], null],
    ['RFC1918', 'allow', inside, [], null],
    ['RFC1918', 'allow', '198.51.100.250', [], 'internalOnly'],
    ['RFC1918', 'deny', inside, [], 'externalOnly'],
    ['RFC1918', 'deny', '198.51.100.251', [], null],
    ['allowList', 'allow', '198.51.100.252', [around], null],
    ['allowList', 'allow', inside, [around], 'allowList'],
    ['denyList', 'allow', '198.51.100.253', [around], 'denyList'],
    ['denyList', 'allow', inside, [around], null],
    ['denyList', 'allow', '198.51.100.254', [], null],
  ] as const)('%s (%s) seen from %s', async (restrictionType, rfcType, address, ranges, why) => {
    const { aclId } = await aKnoc(api.db, { agentId })
    await api.db.updateTable('acls').set({ restrictionType, rfcType }).where('id', '=', aclId).execute()
    for (const { startAddress, endAddress } of ranges)
      await sql`insert into acl_ranges (acl_id, position, start_address, end_address)
        values (${aclId}, 0, ${startAddress}::inet, ${endAddress}::inet)`.execute(api.db)
    const person = await api.aPerson(address, [{ aclId }])
    expect(await entryOf(person, aclId)).toMatchObject({
      DisableForUser: why !== null,
      RestrictedBy: why,
    })
    const click = await person.post('/grant', { ACLID: aclId })
    expect(click.body.Err).toBe(why === null ? undefined : 'err.accessRestricted')
  })
})

describe('AutoBrowseToURI', () => {
  /** A knoc that wants to be browsed to and opens by itself; `isOpen` when its agent has opened it. */
  async function aWanting(url: string | null, { isHidden = false } = {}) {
    const knoc = await aKnoc(api.db, { agentId, clickToGrant: false })
    await api.db
      .updateTable('acls')
      .set({ url, autoBrowseUsers: true, hideFromUsers: isHidden })
      .where('id', '=', knoc.aclId)
      .execute()
    return knoc
  }
  const open = ({ targetId }: { targetId: string }) =>
    sql`update entries set applied_generation = generation, applied_desired = desired, outcome = 'verified'
      where target_id = ${targetId}`.execute(api.db)
  const addressOf = async (person: Person) => (await statusOf(person)).AutoBrowseToURI

  it('is the address of the one entry that wants it, once its status is 0', async () => {
    const knoc = await aWanting('https://intranet.example/start?a=1#part')
    const person = await api.aPerson(anAddress(), [knoc])
    expect(await addressOf(person)).toBeNull()
    await open(knoc)
    expect(await numberOf(person, knoc.aclId)).toBe(0)
    expect(await addressOf(person)).toBe('https://intranet.example/start?a=1#part')
  })

  it('is that of a list once its status is 5', async () => {
    const list = await aList()
    await api.db
      .updateTable('acls')
      .set({ url: 'https://listed.example/', autoBrowseUsers: true })
      .where('id', '=', list.aclId)
      .execute()
    const person = await api.aPerson(anAddress(), [list])
    await person.post('/grant', { ACLID: list.aclId })
    expect(await addressOf(person)).toBeNull()
    await readList(list)
    expect(await addressOf(person)).toBe('https://listed.example/')
  })

  it('counts all entries but children, hidden ones too: two that want it are none', async () => {
    const shown = await aWanting('https://one.example/')
    const hidden = await aWanting('https://two.example/', { isHidden: true })
    const person = await api.aPerson(anAddress(), [hidden])
    await open(hidden)
    expect(await addressOf(person)).toBe('https://two.example/')
    // A child wants nothing by itself.
    await api.db
      .insertInto('acls')
      .values({
        description: 'child',
        parentId: hidden.aclId,
        autoBrowseUsers: true,
        url: 'https://c.example',
      })
      .execute()
    expect(await addressOf(person)).toBe('https://two.example/')
    const { id } = await api.db
      .selectFrom('users')
      .select('id')
      .where('userName', '=', person.userName)
      .executeTakeFirstOrThrow()
    await entitle(api.db, id, shown.aclId)
    expect(await addressOf(person)).toBeNull()
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'ssh://a.example', 'https://', '', null])(
    'is never %j: http and https only',
    async (url) => {
      const knoc = await aWanting(url)
      const person = await api.aPerson(anAddress(), [knoc])
      await open(knoc)
      expect(await numberOf(person, knoc.aclId)).toBe(0)
      expect(await addressOf(person)).toBeNull()
    },
  )
})

describe('the status', () => {
  it('is nobody else’s: without a session, of the admins’ realm', async () => {
    const stranger = api.browser(anAddress())
    expect((await stranger.get('/status')).body).toEqual({ Err: 'err.invalidSession' })
    const list = await aList()
    const person = await api.aPerson(anAddress(), [])
    const { ACLs } = await statusOf(person)
    expect(ACLs.map((acl: AclStatus) => acl.ACLID)).not.toContain(list.aclId)
    expect((await person.post('/grant', { ACLID: list.aclId })).body.Err).toBe('err.notFound')
  })
})
