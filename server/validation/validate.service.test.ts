import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aKnoc, aLicence, anAgent, aSession, aUser, entitle } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { aReplica } from '#tests/support/listing-agents.ts'
import { aToldList } from '#tests/support/told-lists.ts'
import type { Difference } from './differences.ts'
import { runValidation, type ValidationOptions, validate } from './validate.service.ts'

/** No grace: what these tests plant stays as it is. */
const quick: ValidationOptions = { settleSeconds: 0, timeoutSeconds: 2, pauseMs: 50 }

let database: TestDatabase
let replica: ReturnType<typeof aReplica>
let agentId: string
let targetId: string

beforeAll(async () => {
  database = await testDatabase()
  await aLicence(database.db)
})
afterAll(() => database.drop())
beforeEach(async () => {
  replica = aReplica(database.db)
  await replica.run('table')
  agentId = await anAgent(database.db, 'edge')
  ;({ targetId } = await aKnoc(database.db, { agentId, set4: 'ssh', description: 'SSH' }))
})
afterEach(async () => {
  await replica.stop()
  await sql`truncate entries, grants, acl_targets, targets, agents, replicas cascade`.execute(database.db)
})

/** An entry that somebody holds by a live grant, or one that is closed; settled unless it is said to be owed. */
async function anEntry(
  address: string,
  { desired = 'open', seconds = 3600, isHeld = true, isOwed = false } = {},
): Promise<void> {
  if (isHeld && desired === 'open') await aHolder(address, seconds)
  await sql`
    insert into entries (target_id, address, desired, until, ordered_until, user_name, generation, applied_generation)
    select ${targetId}, ${address}::inet, ${desired}, u.until, u.until, 'alex', g.n, g.n - ${isOwed ? 1 : 0}
    from (select case when ${desired} = 'open' then now() + make_interval(secs => ${seconds}) end as until) u,
      (select nextval('generations') as n) g`.execute(database.db)
}

async function aHolder(address: string, seconds = 3600): Promise<string> {
  const userId = await aUser(database.db)
  const { aclId } = await database.db
    .selectFrom('aclTargets')
    .select('aclId')
    .where('targetId', '=', targetId)
    .executeTakeFirstOrThrow()
  await entitle(database.db, userId, aclId)
  const session = await aSession(database.db, { userId, address, minutes: 2 * 60 })
  const { rows } = await sql<{ id: string }>`
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    values (${session.id}, ${userId}, ${aclId}, ${address}::inet, ${address}::inet, 'own', 'click',
      now() + make_interval(secs => ${seconds})) returning id`.execute(database.db)
  return rows[0]?.id ?? ''
}

/** The end of an entry, or some seconds later: remaining times follow from it, however long a test takes. */
async function endOf(address: string, laterSeconds = 0): Promise<Date> {
  const { rows } = await sql<{ until: Date }>`
    select max(until) as until from entries where address = ${address}::inet`.execute(database.db)
  return new Date((rows[0]?.until.getTime() ?? 0) + laterSeconds * 1_000)
}

const found = async (options: ValidationOptions = {}): Promise<Difference[]> =>
  validate(database.db, { ...quick, ...options })
const said = (differences: readonly Difference[]) =>
  differences.map(({ kind, agent, list, address }) => [kind, agent, list, address])
const rowsLeft = async () => {
  const { rows } = await sql<{ rows: number }>`
    select (select count(*) from validations) + (select count(*) from validation_lists)
      + (select count(*) from validation_entries) as rows`.execute(database.db)
  return Number(rows[0]?.rows)
}

describe('with an agent that answers', () => {
  it('finds nothing where the list is as it was ordered, and leaves no rows behind', async () => {
    await anEntry('10.1.0.1')
    await anEntry('10.1.0.3')
    await anEntry('10.1.0.2', { desired: 'closed' })
    await replica.link(agentId, {
      lists: { [targetId]: { '10.1.0.1': await endOf('10.1.0.1'), '10.1.0.3': await endOf('10.1.0.3') } },
    })
    const report = await runValidation(database.db, quick)
    expect(report).toEqual({ differences: [], agents: 1, lists: 1, entries: 2, looks: 1, isCut: false })
    expect(await rowsLeft()).toBe(0)
  })

  it('names what was left open first, then each other kind, with list, address and holder', async () => {
    await anEntry('10.1.0.1', { desired: 'closed' })
    await anEntry('10.1.0.2')
    await anEntry('10.1.0.3', { seconds: 600 })
    await anEntry('10.1.0.4', { seconds: 600 })
    await anEntry('10.1.0.5', { seconds: 600 })
    const lists = {
      [targetId]: { '10.1.0.1': 300, '10.1.0.3': 700, '10.1.0.4': 500, '10.1.0.5': 0, '10.1.0.6': 0 },
    }
    await replica.link(agentId, { lists })
    const differences = await found()
    expect(said(differences)).toEqual([
      ['leftOpen', 'edge', 'ipset:ssh', '10.1.0.1'],
      ['tooLong', 'edge', 'ipset:ssh', '10.1.0.3'],
      ['tooLong', 'edge', 'ipset:ssh', '10.1.0.5'],
      ['missing', 'edge', 'ipset:ssh', '10.1.0.2'],
      ['tooShort', 'edge', 'ipset:ssh', '10.1.0.4'],
      ['foreign', 'edge', 'ipset:ssh', '10.1.0.6'],
    ])
    expect(differences[0]).toMatchObject({ userName: 'alex', knocs: 'SSH' })
    expect(Date.parse(differences[0]?.since ?? '')).toBeGreaterThan(Date.now() - 60_000)
    expect(differences.map(({ detail }) => detail)).toContain('it has no end there')
  })

  it('tells an agent of a list first that it has never had an order for', async () => {
    const link = await replica.link(agentId, { lists: { [targetId]: {} } })
    ;({ targetId } = await aKnoc(database.db, { agentId, set4: 'web' }))
    expect(await found()).toEqual([])
    const told = link.frames.findIndex(({ type }) => type === 'targets')
    const asked = link.frames.findIndex((frame) => frame['targetId'] === targetId)
    expect(link.frames[told]?.['targets']).toContainEqual(expect.objectContaining({ id: targetId }))
    expect(told).toBeLessThan(asked)
  })

  it('does not count foreign entries that are to be ignored', async () => {
    await replica.link(agentId, { lists: { [targetId]: { '10.1.0.6': 0 } } })
    expect(said(await found())).toEqual([['foreign', 'edge', 'ipset:ssh', '10.1.0.6']])
    expect(await found({ ignoreForeign: true })).toEqual([])
  })

  it('takes an end within the kernel’s rounding as right, and two seconds more as wrong', async () => {
    await anEntry('10.1.0.1', { seconds: 600 })
    const link = await replica.link(agentId, {
      lists: { [targetId]: { '10.1.0.1': await endOf('10.1.0.1', 1) } },
    })
    expect(await found()).toEqual([])
    link.lists[targetId] = { '10.1.0.1': await endOf('10.1.0.1', 3) }
    expect(said(await found())).toEqual([['tooLong', 'edge', 'ipset:ssh', '10.1.0.1']])
  })

  it('judges an end only where the list holds one: others are past it, or not', async () => {
    await sql`update targets set expiry = 'agent'`.execute(database.db)
    await anEntry('10.1.0.1')
    await anEntry('10.1.0.2', { seconds: -5, isHeld: false })
    await replica.link(agentId, { lists: { [targetId]: { '10.1.0.1': 0, '10.1.0.2': 0 } } })
    expect(said(await found())).toEqual([
      ['tooLong', 'edge', 'ipset:ssh', '10.1.0.2'],
      ['overdue', 'edge', 'ipset:ssh', '10.1.0.2'],
    ])
  })

  it('judges what two targets of one list want together, by the later end', async () => {
    await anEntry('10.1.0.1', { seconds: 60 })
    await anEntry('10.1.0.2')
    await sql`update targets set state = 'draining' where id = ${targetId}`.execute(database.db)
    const drained = targetId
    ;({ targetId } = await aKnoc(database.db, { agentId, set4: 'ssh' }))
    await anEntry('10.1.0.1', { seconds: 600 })
    const standing = { '10.1.0.1': await endOf('10.1.0.1'), '10.1.0.2': await endOf('10.1.0.2') }
    const link = await replica.link(agentId, {
      lists: { [targetId]: standing, [drained]: standing },
    })
    expect(await found()).toEqual([])
    expect(
      new Set(link.frames.filter(({ type }) => type === 'listingRequest').map((f) => f['targetId'])).size,
    ).toBe(1)
  })

  it('says that a list which nobody can look into is compared by reports alone, unless they are accepted', async () => {
    await replica.link(agentId, { lists: { [targetId]: 'unlistable' } })
    expect(await found()).toEqual([])
    await anEntry('10.1.0.1')
    expect(said(await found())).toEqual([['unlistable', 'edge', 'ipset:ssh', null]])
    expect(await found({ acceptReported: true })).toEqual([])
  })

  it('asks nobody for a list that a firewall fetches from the server', async () => {
    const told = await aToldList(database.db, { agentId })
    const link = await replica.link(agentId, { lists: { [targetId]: {} } })
    expect(await found()).toEqual([])
    const asked = link.frames.filter(({ type }) => type === 'listingRequest').map((f) => f['targetId'])
    expect(asked).toContain(targetId)
    expect(asked).not.toContain(told.targetId)
  })

  it('says why a list could not be read, and what is at stake on it', async () => {
    await anEntry('10.1.0.1')
    await replica.link(agentId, { lists: { [targetId]: 'failed' } })
    const [difference] = await found()
    expect(difference).toMatchObject({
      kind: 'listFailed',
      detail: 'no such set (1 open, 0 not yet answered)',
    })
  })

  it('counts an order that is not answered, once', async () => {
    await anEntry('10.1.0.1', { isOwed: true })
    await anEntry('10.1.0.2', { isOwed: true, desired: 'closed' })
    const lists = { [targetId]: { '10.1.0.1': await endOf('10.1.0.1'), '10.1.0.2': 60 } }
    await replica.link(agentId, { lists })
    expect(said(await found())).toEqual([
      ['leftOpen', 'edge', 'ipset:ssh', '10.1.0.2'],
      ['unsettled', 'edge', 'ipset:ssh', '10.1.0.1'],
    ])
  })
})

describe('with an agent that can’t be asked', () => {
  it('names each open entry and each owed close of one that is away, and since when', async () => {
    await anEntry('10.1.0.1')
    await anEntry('10.1.0.2', { desired: 'closed', isOwed: true })
    await anEntry('10.1.0.3', { desired: 'closed' })
    await sql`update agents set last_seen_at = '2026-01-02T03:04:05Z'`.execute(database.db)
    const differences = await found()
    expect(said(differences)).toEqual([
      ['agentAway', 'edge', 'ipset:ssh', '10.1.0.1'],
      ['agentAway', 'edge', 'ipset:ssh', '10.1.0.2'],
    ])
    expect(differences[0]).toMatchObject({
      since: '2026-01-02T03:04:05.000Z',
      knocs: 'SSH',
      userName: 'alex',
    })
    expect(differences[1]?.detail).toContain('a close is owed')
  })

  it('finds nothing wrong with one that is away and has nothing open', async () => {
    await anEntry('10.1.0.3', { desired: 'closed' })
    expect(await found()).toEqual([])
  })

  it('names one that speaks the older protocol, keeps its link, and never sends it a younger frame', async () => {
    await anEntry('10.1.0.1')
    const link = await replica.link(agentId, { protocol: { min: 1, max: 1 } })
    expect(said(await found())).toEqual([['agentTooOld', 'edge', 'ipset:ssh', '10.1.0.1']])
    expect(link.frames.map(({ type }) => type)).not.toContain('listingRequest')
    expect(link.frames.find(({ type }) => type === 'welcome')).toMatchObject({ protocol: 1 })
    expect(link.closed).toEqual([])
  })

  it('says so when one doesn’t answer in time, and asks again without an older answer being taken', async () => {
    await anEntry('10.1.0.1')
    const link = await replica.link(agentId, { lists: { [targetId]: 'silent' } })
    const [difference] = await found({ timeoutSeconds: 0.5 })
    expect(difference).toMatchObject({ kind: 'noAnswer', list: 'ipset:ssh' })
    const late = link.frames.find(({ type }) => type === 'listingRequest')
    link.lists[targetId] = { '10.1.0.1': await endOf('10.1.0.1') }
    link.say({ ...listed(late ?? {}) })
    expect(await found()).toEqual([])
    expect(link.closed).toEqual([])
  })

  it('says that the server which held its link is dead, and that none runs', async () => {
    await anEntry('10.1.0.1')
    await replica.link(agentId, { lists: { [targetId]: { '10.1.0.1': await endOf('10.1.0.1') } } })
    await replica.stop()
    await sql`update replicas set seen_at = now() - interval '7 seconds'`.execute(database.db)
    const differences = await found()
    expect(differences.map(({ kind }) => kind)).toEqual(['noServer', 'agentAway'])
    expect(differences[1]?.detail).toContain('the server that held its link is dead')
  })

  it('waits for another validation of the same agent, and says so when it takes too long', async () => {
    await anEntry('10.1.0.1')
    await replica.link(agentId, { lists: { [targetId]: { '10.1.0.1': await endOf('10.1.0.1') } } })
    const both = await Promise.all([found(), found()])
    expect(both).toEqual([[], []])
    await sql`
      insert into validations (agent_id, target_ids, expires_at, taken_at)
      values (${agentId}, '{}', now() + interval '1 minute', now())`.execute(database.db)
    const [difference] = await found({ timeoutSeconds: 0.5 })
    expect(difference?.detail).toContain('another `knoc validate`')
    await sql`update validations set expires_at = now() - interval '6 seconds'`.execute(database.db)
    expect(await found()).toEqual([])
  })
})

it('sees a list of an agent that comes back only while it is being validated', async () => {
  await anEntry('10.1.0.1')
  await replica.link(await anAgent(database.db, 'other'), { lists: {} })
  const lists = { [targetId]: { '10.1.0.1': await endOf('10.1.0.1'), '10.1.0.9': 0 } }
  const asked = found({ settleSeconds: 0.6 })
  setTimeout(() => void replica.link(agentId, { lists }), 100)
  expect(said(await asked)).toEqual([['foreign', 'edge', 'ipset:ssh', '10.1.0.9']])
})

describe('by the database alone', () => {
  it('finds an entry without a live grant, a live grant without an entry, and a grant whose right has gone', async () => {
    await anEntry('10.1.0.1', { isHeld: false })
    const grantId = await aHolder('10.1.0.2')
    const dead = await aHolder('10.1.0.3')
    await sql`
      update users set login_enabled = false where id = (select user_id from grants where id = ${dead})`.execute(
      database.db,
    )
    await replica.link(agentId, { lists: { [targetId]: { '10.1.0.1': await endOf('10.1.0.1') } } })
    const differences = await found()
    expect(said(differences)).toEqual([
      ['ungranted', 'edge', 'ipset:ssh', '10.1.0.1'],
      ['deadGrant', null, null, '10.1.0.3'],
      ['unordered', 'edge', 'ipset:ssh', '10.1.0.2'],
    ])
    expect(differences[2]?.userName).toMatch(/^user-/)
    expect(grantId).not.toBe('')
  })

  it('finds an entry that no server closed at its end, also on a list without an agent', async () => {
    await sql`update targets set agent_id = null, key = 'allowlist:office'`.execute(database.db)
    await anEntry('10.1.0.1', { isOwed: true })
    expect(await found()).toEqual([])
    await anEntry('10.1.0.2', { seconds: -5, isHeld: false })
    expect(said(await found())).toEqual([['overdue', null, 'allowlist:office', '10.1.0.2']])
  })
})

describe('while things change', () => {
  it('does not count what the next look no longer finds, nor what was ordered anew in between', async () => {
    await anEntry('10.1.0.1')
    let looks = 0
    const reorder = sql`update entries set generation = nextval('generations')`
    await replica.link(agentId, {
      answer: (request) => {
        looks += 1
        void reorder
          .execute(database.db)
          .then(() => sql`update entries set applied_generation = generation`.execute(database.db))
        return [{ ...listed(request), entries: [], last: true }]
      },
    })
    expect(await found()).toEqual([])
    expect(looks).toBeGreaterThan(1)
  })

  it('waits for what settles in time', async () => {
    await anEntry('10.1.0.1')
    const link = await replica.link(agentId, { lists: { [targetId]: {} } })
    const opened = { '10.1.0.1': await endOf('10.1.0.1') }
    setTimeout(() => (link.lists[targetId] = opened), 300)
    expect(await found({ settleSeconds: 10 })).toEqual([])
  })

  it('looks once more at what an agent shows that has just come back', async () => {
    await anEntry('10.1.0.1', { desired: 'closed', isOwed: true })
    const asked = found({ settleSeconds: 0.6 })
    setTimeout(() => void replica.link(agentId, { lists: { [targetId]: { '10.1.0.1': 60 } } }), 100)
    expect(said(await asked)).toEqual([['leftOpen', 'edge', 'ipset:ssh', '10.1.0.1']])
  })
})

describe('with an agent that lies', () => {
  const wrongs: [string, (request: Record<string, unknown>) => object[]][] = [
    [
      'an answer to a number that was never given',
      (r) => [{ ...listed(r), request: Number(r['request']) + 1 }],
    ],
    ['an answer to another link’s number', (r) => [{ ...listed(r), request: 7 }]],
    ['an answer for another list', (r) => [{ ...listed(r), targetId: crypto.randomUUID() }]],
    [
      'more frames than were agreed',
      (r) =>
        Array.from({ length: 257 }, () => ({
          ...listed(r),
          entries: [{ address: '10.9.9.9', remainingSeconds: 1 }],
          last: false,
        })),
    ],
    ['frames without end and without content', (r) => [{ ...listed(r), last: false }]],
    [
      'a failed list with entries',
      (r) => [{ ...listed(r), state: 'failed', entries: [{ address: '10.9.9.9', remainingSeconds: 1 }] }],
    ],
    [
      'more entries in a frame than were agreed',
      (r) => [
        {
          ...listed(r),
          entries: Array.from({ length: 1001 }, () => ({ address: '10.9.9.9', remainingSeconds: 1 })),
        },
      ],
    ],
    [
      'what is no address',
      (r) => [{ ...listed(r), entries: [{ address: 'all; drop', remainingSeconds: 1 }] }],
    ],
  ]
  it.each(wrongs)('refuses %s and ends the link', async (_name, answer) => {
    await anEntry('10.1.0.1')
    const link = await replica.link(agentId, { answer: (request) => answer(request) as never })
    const differences = await found({ timeoutSeconds: 0.5 })
    expect(link.closed).toEqual([4400])
    expect(differences.map(({ kind }) => kind)).toEqual(['agentAway'])
    expect(await rowsLeft()).toBe(0)
  })
})

const listed = (request: Record<string, unknown>) => ({
  type: 'listing',
  request: request['request'],
  targetId: request['targetId'],
  checkedAtMs: Date.now(),
  state: 'listed',
  error: null,
  entries: [] as object[],
  last: true,
})
