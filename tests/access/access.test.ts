import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createAuditor, listWrongEntries } from '#server/entries/auditor.ts'
import { createRights, type RightsDeps } from '#server/entries/create-rights.ts'
import { type OrderRef, settleEntries } from '#server/entries/settle-entries.ts'
import { sweepOnce } from '#server/entries/sweep.ts'
import { createGrantService } from '#server/grants/grant.service.ts'
import { createDatabase, inTransaction } from '#server/platform/database.ts'
import type { ClientAddress } from '#server/platform/http/client-address.ts'
import { createLog } from '#server/platform/log.ts'
import { aKnoc, aLicence, anAgent, aSession, aUser, entitle } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'

const log = createLog({ logLevel: 'silent', replica: 'test' })
const silent = {
  gateway: { nudge: () => undefined, drop: async () => undefined },
  events: { publish: () => undefined, subscribe: () => () => undefined },
}

let database: TestDatabase
let db: TestDatabase['db']
let agentId: string

beforeAll(async () => {
  database = await testDatabase({ max: 16 })
  db = database.db
  await aLicence(db)
  agentId = await anAgent(db)
})
afterAll(() => database.drop())

const make = () => {
  const deps = { db, ...silent }
  const rights = createRights(deps)
  const grants = createGrantService({ ...deps, rights, log, isGrantable: () => true })
  return { deps, rights, grants, auditor: createAuditor({ ...deps, rights, reads: db, log }) }
}

const from = (address: string): ClientAddress => ({
  address,
  family: address.includes(':') ? 6 : 4,
  viaUntrustedProxy: false,
})

const entryOf = async (targetId: string, address: string) => {
  const { rows } = await sql<{ desired: string; until: Date | null; generation: number }>`
    select desired, until, generation from entries where target_id = ${targetId} and address = ${address}::inet`.execute(
    db,
  )
  return rows[0]
}

/** No test of this file may leave anything for the auditor to repair (decision 3). */
afterEach(async () => {
  expect(await make().auditor.audit()).toBe(0)
})

describe('what opens and closes', () => {
  it('opens for a click, once, and moves no end on a second click', async () => {
    const { grants } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId, maximumGrantSeconds: 600 })
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.1.0.1' })
    await grants.grant(session, from('10.1.0.1'), { ACLID: aclId, IPs: [] })
    const first = await entryOf(targetId, '10.1.0.1')
    await grants.grant(session, from('10.1.0.1'), { ACLID: aclId, IPs: [] })
    expect(await entryOf(targetId, '10.1.0.1')).toEqual(first)
    expect(first?.desired).toBe('open')
  })

  it('refuses an address that the server has not seen, and one that somebody else claims', async () => {
    const { grants } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId })
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.1.1.1' })
    const click = (IPs: { Port: number; IP: string }[], client = from('10.1.1.1')) =>
      grants.grant(session, client, { ACLID: aclId, IPs })
    await expect(click([{ Port: 0, IP: '192.0.2.99' }])).rejects.toMatchObject({ code: 'err.addressChanged' })
    await expect(click([{ Port: 443, IP: '192.0.2.99' }])).rejects.toMatchObject({
      code: 'err.addressNotSeen',
    })
    await expect(click([], from('10.1.1.2'))).rejects.toMatchObject({ code: 'err.addressChanged' })
    await expect(click([], { ...from('10.1.1.1'), viaUntrustedProxy: '10.9.9.9' })).rejects.toMatchObject({
      code: 'err.proxyNotTrusted',
    })
    expect(await entryOf(targetId, '10.1.1.1')).toBeUndefined()
  })

  it('says why a click is refused: not assigned, restricted, no list for the family, no licence', async () => {
    const { grants } = make()
    const { aclId } = await aKnoc(db, { agentId })
    const userId = await aUser(db)
    const session = await aSession(db, { userId, address: '10.1.2.1' })
    const click = (address: string) => grants.grant(session, from(address), { ACLID: aclId, IPs: [] })
    await expect(click('10.1.2.1')).rejects.toMatchObject({ code: 'err.notFound' })
    await entitle(db, userId, aclId)
    await db
      .updateTable('acls')
      .set({ restrictionType: 'RFC1918', rfcType: 'deny' })
      .where('id', '=', aclId)
      .execute()
    await expect(click('10.1.2.1')).rejects.toMatchObject({ code: 'err.accessRestricted' })
    await db.updateTable('acls').set({ restrictionType: 'none' }).where('id', '=', aclId).execute()
    const six = await aSession(db, { userId, address: 'fd00::1' })
    await expect(grants.grant(six, from('fd00::1'), { ACLID: aclId, IPs: [] })).rejects.toMatchObject({
      code: 'err.noListForAddress',
    })
    await sql`update licences set removed_at = now() where removed_at is null`.execute(db)
    await expect(click('10.1.2.1')).rejects.toMatchObject({ code: 'err.unlicensed' })
    await aLicence(db)
  })

  it('follows the user to another address and keeps the end', async () => {
    const { grants } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId, maximumGrantSeconds: 600 })
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.1.3.1' })
    await grants.grant(session, from('10.1.3.1'), { ACLID: aclId, IPs: [] })
    const before = await entryOf(targetId, '10.1.3.1')
    await grants.follow(session, from('10.1.3.2'))
    expect((await entryOf(targetId, '10.1.3.1'))?.desired).toBe('closed')
    const after = await entryOf(targetId, '10.1.3.2')
    expect(after?.desired).toBe('open')
    expect(after?.until).toEqual(before?.until)
  })

  it('grants by following what needs no click, and not again what was revoked', async () => {
    const { grants } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId, clickToGrant: false })
    const userId = await aUser(db)
    const session = await aSession(db, { userId, address: '10.1.4.1' })
    await grants.follow(session, from('10.1.4.1'))
    expect(await entryOf(targetId, '10.1.4.1')).toBeUndefined()
    await entitle(db, userId, aclId)
    await grants.follow(session, from('10.1.4.1'))
    expect((await entryOf(targetId, '10.1.4.1'))?.desired).toBe('open')
    await grants.revoke(session, aclId)
    await grants.follow(session, from('10.1.4.1'))
    expect((await entryOf(targetId, '10.1.4.1'))?.desired).toBe('closed')
  })

  it('grants fixed addresses in place of the user’s, as long as the user’s may have them', async () => {
    const { grants, rights } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId })
    await sql`update acls set grant_type = 'specifiedIps', specified_ips = '{192.0.2.10,192.0.2.11}' where id = ${aclId}`.execute(
      db,
    )
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.1.5.1' })
    await grants.grant(session, from('10.1.5.1'), { ACLID: aclId, IPs: [] })
    expect((await entryOf(targetId, '192.0.2.10'))?.desired).toBe('open')
    expect((await entryOf(targetId, '192.0.2.11'))?.desired).toBe('open')
    expect(await entryOf(targetId, '10.1.5.1')).toBeUndefined()
    await rights.change({ acls: [aclId] }, 'knocChanged', async (tx) => {
      await sql`update acls set specified_ips = '{192.0.2.11}' where id = ${aclId}`.execute(tx)
    })
    expect((await entryOf(targetId, '192.0.2.10'))?.desired).toBe('closed')
    expect((await entryOf(targetId, '192.0.2.11'))?.desired).toBe('open')
  })
})

describe('two at once', () => {
  it('turns off the light when two last holders leave together, a thousand times', {
    timeout: 240_000,
  }, async () => {
    const { rights } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId })
    const users = [await aUser(db), await aUser(db)]
    for (const user of users) await entitle(db, user, aclId)
    const pairs = await holdInPairs(users, aclId)
    const keys = [...pairs.keys()].map((address) => ({ targetId, address }))
    expect(await inTransaction(db, (tx) => settleEntries(tx, keys))).toHaveLength(1_000)

    for (const lanes of chunks([...pairs.values()], 4))
      await Promise.all(
        lanes.flat().map((sessionId) =>
          rights.change({ sessions: [sessionId] }, 'logout', async (tx) => {
            await sql`update sessions set ended_at = now() where id = ${sessionId}`.execute(tx)
          }),
        ),
      )
    const { rows } = await sql<{ open: number; closed: number }>`
      select count(*) filter (where desired = 'open') as open, count(*) filter (where desired = 'closed') as closed
      from entries where target_id = ${targetId}`.execute(db)
    expect(rows[0]).toEqual({ open: 0, closed: 1_000 })
  })

  it('never leaves a door open when a grant races the change that takes the right away', async () => {
    const { rights, grants } = make()
    const takeAway = [
      (userId: string) => sql`update users set login_enabled = false where id = ${userId}`,
      (userId: string, aclId: string) =>
        sql`delete from user_acls where user_id = ${userId} and acl_id = ${aclId}`,
      (_userId: string, aclId: string) => sql`update acls set deleted_at = now() where id = ${aclId}`,
      (_userId: string, aclId: string) =>
        sql`update acls set restriction_type = 'RFC1918', rfc_type = 'deny' where id = ${aclId}`,
    ]
    let leftOpen = 0
    for (let round = 0; round < 120; round += 1) {
      const { aclId, targetId } = await aKnoc(db, { agentId })
      const userId = await aUser(db)
      await entitle(db, userId, aclId)
      const address = `10.3.0.${round + 1}`
      const session = await aSession(db, { userId, address })
      const change = takeAway[round % takeAway.length]
      await Promise.all([
        grants.grant(session, from(address), { ACLID: aclId, IPs: [] }).catch(() => undefined),
        rights.change({ users: [userId], acls: [aclId] }, 'userChanged', async (tx) => {
          await change?.(userId, aclId).execute(tx)
        }),
      ])
      if ((await entryOf(targetId, address))?.desired === 'open') leftOpen += 1
    }
    expect(leftOpen).toBe(0)
  })

  it('keeps a shared list open for one knoc when the other one goes', async () => {
    const { grants } = make()
    const first = await aKnoc(db, { agentId, set4: 'shared_set' })
    const second = await aKnoc(db, { agentId, set4: 'shared_set' })
    expect(second.targetId).toBe(first.targetId)
    const userId = await aUser(db)
    for (const { aclId } of [first, second]) await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.4.0.1' })
    for (const { aclId } of [first, second])
      await grants.grant(session, from('10.4.0.1'), { ACLID: aclId, IPs: [] })
    await grants.revoke(session, first.aclId)
    expect((await entryOf(first.targetId, '10.4.0.1'))?.desired).toBe('open')
    await grants.revoke(session, second.aclId)
    expect((await entryOf(first.targetId, '10.4.0.1'))?.desired).toBe('closed')
  })
})

describe('by time and by audit', () => {
  it('closes by the sweep what has reached its end, and grants it no more in that session', async () => {
    const { deps, grants } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId, clickToGrant: false })
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.5.0.1' })
    await grants.follow(session, from('10.5.0.1'))
    await sql`update grants set ends_at = now() where session_id = ${session.id}`.execute(db)
    await sweepOnce(deps)
    expect((await entryOf(targetId, '10.5.0.1'))?.desired).toBe('closed')
    await grants.follow(session, from('10.5.0.1'))
    expect((await entryOf(targetId, '10.5.0.1'))?.desired).toBe('closed')
  })

  it('orders an extension late, but never an end later than the true one', async () => {
    const { grants } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId })
    const users = [await aUser(db), await aUser(db)]
    for (const user of users) await entitle(db, user, aclId)
    const [shorter, longer] = [
      await aSession(db, { userId: users[0] ?? '', address: '10.5.1.1', minutes: 30 }),
      await aSession(db, { userId: users[1] ?? '', address: '10.5.1.1', minutes: 60 }),
    ]
    await grants.grant(shorter, from('10.5.1.1'), { ACLID: aclId, IPs: [] })
    const first = await entryOf(targetId, '10.5.1.1')
    await grants.grant(longer, from('10.5.1.1'), { ACLID: aclId, IPs: [] })
    const second = await entryOf(targetId, '10.5.1.1')
    expect(second?.generation).toBe(first?.generation)
    expect(second?.until?.getTime()).toBeGreaterThan(first?.until?.getTime() ?? Infinity)
    await grants.revoke(longer, aclId)
    expect((await entryOf(targetId, '10.5.1.1'))?.until).toEqual(first?.until)
  })

  it('finds and repairs a right that was taken away behind its back', async () => {
    const { grants, auditor } = make()
    const { aclId, targetId } = await aKnoc(db, { agentId })
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address: '10.5.2.1' })
    await grants.grant(session, from('10.5.2.1'), { ACLID: aclId, IPs: [] })
    await sql`update users set login_enabled = false where id = ${userId}`.execute(db)
    expect(await auditor.audit()).toBeGreaterThan(0)
    expect((await entryOf(targetId, '10.5.2.1'))?.desired).toBe('closed')
  })

  it('refuses to settle more entries in one transaction than it may lock', async () => {
    const keys = Array.from({ length: 1_001 }, (_, index) => ({
      targetId: randomUUID(),
      address: `10.6.${Math.floor(index / 250)}.${index % 250}`,
    }))
    await expect(inTransaction(db, (tx) => settleEntries(tx, keys))).rejects.toThrow('1000 at most')
  })
})

describe('a change of more entries than one transaction may lock', () => {
  /** A user who holds many addresses at an agent's list, and what his being disabled does. */
  const crowd = async (many = 2_500) => {
    const { aclId, targetId } = await aKnoc(db, { agentId })
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const addresses = [...(await holdInPairs([userId], aclId, many)).keys()]
    for (const some of chunks(addresses, 1_000)) {
      const keys = some.map((address) => ({ targetId, address }))
      await inTransaction(db, (tx) => settleEntries(tx, keys))
    }
    // As the database does by itself within a minute.
    await sql`analyze`.execute(db)
    const open = async () => {
      const { rows } = await sql<{ open: number }>`
        select count(*) as open from entries where target_id = ${targetId} and desired = 'open'`.execute(db)
      return rows[0]?.open
    }
    const disable = (deps: Partial<RightsDeps> = {}) =>
      createRights({ ...silent, db, ...deps }).change({ users: [userId] }, 'userChanged', async (tx) => {
        await sql`update users set login_enabled = false where id = ${userId}`.execute(tx)
      })
    return { targetId, open, disable }
  }

  it('is ordered whole by whoever makes it', async () => {
    const { open, disable } = await crowd()
    const told: number[] = []
    expect(await open()).toBe(2_500)
    await disable({ gateway: { nudge: (orders) => void told.push(orders.length) } })
    expect(await open()).toBe(0)
    expect(told.filter((many) => many > 0)).toEqual([1_000, 1_000, 500])
  })

  it('is ended by the sweep when the process dies after the first thousand; the auditor has nothing to repair', async () => {
    const { targetId, open, disable } = await crowd()
    const die = () => {
      throw new Error('died')
    }
    await expect(disable({ gateway: { nudge: die } })).rejects.toThrow('died')
    expect(await open()).toBe(1_500)
    const { auditor, deps } = make()
    expect(await auditor.audit()).toBe(0)
    // Whoever compares without taking part is shown what still stands.
    const left = await listWrongEntries(db, { unsettled: true })
    expect(left.filter((key) => key.targetId === targetId)).toHaveLength(500)
    const closes: string[] = []
    const nudge = (orders: readonly OrderRef[]) => void closes.push(...orders.map(({ desired }) => desired))
    expect(await sweepOnce({ ...deps, gateway: { nudge } })).toBe(true)
    expect(await open()).toBe(500)
    expect(await sweepOnce({ ...deps, gateway: { nudge } })).toBe(true)
    expect(await open()).toBe(0)
    expect(await sweepOnce({ ...deps, gateway: { nudge } })).toBe(false)
    expect(closes).toEqual(Array.from({ length: 1_500 }, () => 'closed'))
  })

  it('is planned for the tables as they are; a small one keeps its plans', async () => {
    const lone = createDatabase(database.connection, { max: 1, applicationName: 'lone' })
    try {
      await sql`set plan_cache_mode = force_generic_plan`.execute(lone.db)
      const plans = async () => {
        const { rows } = await sql<{ generic: number; custom: number }>`
          select generic_plans as generic, custom_plans as custom from pg_prepared_statements
          where statement like '%lock_entries(%' or statement like '%from live_grants l%'`.execute(lone.db)
        return rows
      }
      const { disable } = await crowd(90)
      await disable({ db: lone.db })
      const small = await plans()
      expect(small).toHaveLength(3)
      expect(small.every(({ generic, custom }) => generic > 0 && custom === 0)).toBe(true)
      await (await crowd()).disable({ db: lone.db })
      const large = await plans()
      expect(large.map(({ generic }) => generic)).toEqual(small.map(({ generic }) => generic))
      expect(large.every(({ custom }) => custom > 0)).toBe(true)
    } finally {
      await lone.close()
    }
  })

  it('is repaired round by round, without a pause, when it was made behind the back of all this', async () => {
    const { targetId, open } = await crowd()
    const { auditor } = make()
    await sql`
      update grants set ended_at = now(), ended_reason = 'revoked'
      where acl_id in (select acl_id from acl_targets where target_id = ${targetId})`.execute(db)
    for (const left of [2_000, 1_500, 1_000, 500, 0]) {
      expect(await auditor.round()).toBe(true)
      expect(await open()).toBe(left)
    }
    expect(await auditor.round()).toBe(false)
    expect(auditor.repairsTotal()).toBe(2_500)
  })
})

/** So many addresses, each held by a session of each of the users. */
async function holdInPairs(
  users: readonly string[],
  aclId: string,
  many = 1_000,
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ address: string; sessionId: string }>`
    with addresses as (select host(inet '10.2.0.0' + n) as address from generate_series(1, ${many}::int) as n),
    made as (
      insert into sessions (user_id, token_hash, ip_address, ends_at)
      select u.id, gen_random_uuid()::text, a.address::inet, now() + interval '1 hour'
      from addresses a cross join unnest(${[...users]}::uuid[]) as u (id)
      returning id, user_id, ip_address)
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    select id, user_id, ${aclId}, ip_address, ip_address, 'own', 'click', now() + interval '1 hour' from made
    returning host(address) as address, session_id`.execute(db)
  const pairs = new Map<string, string[]>()
  for (const { address, sessionId } of rows) pairs.set(address, [...(pairs.get(address) ?? []), sessionId])
  return pairs
}

const chunks = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
