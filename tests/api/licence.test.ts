import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runLicenceCommand } from '#server/cli/licence.ts'
import {
  checkLicensed,
  evaluateLicence,
  isLicensed,
  licensingSummary,
} from '#server/licence/licence.service.ts'
import { readLicence } from '#server/licence/licence-key.ts'
import { aKnoc, aSession, aUser, entitle } from '#tests/support/builders.ts'
import { anEnrolledAgent, type ConsoleApi, startConsoleApi } from '#tests/support/console-api.ts'

let api: ConsoleApi
beforeAll(async () => {
  api = await startConsoleApi()
})
afterAll(() => api.stop())

const path = '/admin/settings/license'
const save = (License: string) => api.post(path, { License })
const current = () =>
  api.db.selectFrom('licences').selectAll().where('removedAt', 'is', null).executeTakeFirstOrThrow()
/** Lets time pass for the licence in force, by moving its own instants back. */
const pass = (interval: string) =>
  sql`update licences set expires_at = expires_at - ${interval}::interval, expiry_seen_at = expiry_seen_at - ${interval}::interval
    where removed_at is null`.execute(api.db)

async function users(count: number): Promise<string[]> {
  await sql`update users set deleted_at = now()`.execute(api.db)
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.push(await aUser(api.db))
  return ids
}
const licensedOf = async (ids: readonly string[]) => {
  const rows = await api.db
    .selectFrom('users')
    .select(['id', 'licensed'])
    .where('id', 'in', [...ids])
    .execute()
  return ids.map((id) => rows.find((row) => row.id === id)?.licensed)
}

/** A door that a user stands in now; says whether it is ordered open. */
async function anOpenDoor(userId: string) {
  const agent = await anEnrolledAgent(api)
  const { aclId, targetId } = await aKnoc(api.db, { agentId: agent.id })
  await entitle(api.db, userId, aclId)
  const session = await aSession(api.db, { userId, address: '203.0.113.1' })
  await sql`
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    values (${session.id}, ${userId}, ${aclId}, '203.0.113.1', '203.0.113.1', 'own', 'click', now() + interval '1 hour')`.execute(
    api.db,
  )
  await api.deps.rights.change({ acls: [aclId] }, 'knocChanged', async () => undefined)
  return async () =>
    (await api.db.selectFrom('entries').select('desired').where('targetId', '=', targetId).executeTakeFirst())
      ?.desired
}

describe('a licence key', () => {
  it('is saved, shown and removed', async () => {
    expect((await api.get(path)).body.data).toEqual({
      Licensed: false,
      ID: null,
      UserLimit: null,
      SessionLimit: null,
      MaxMachines: null,
      MachineCount: 0,
      Expires: null,
    })
    expect(await isLicensed(api.db)).toBe(false)
    await expect(checkLicensed(api.db)).rejects.toMatchObject({ code: 'err.unlicensed' })
    await sql`insert into replicas (id, host_name, version, seen_at) values ('a', 'h', '2', now()),
      ('b', 'h', '2', now() - interval '25 hours')`.execute(api.db)
    const { status, body } = await api.license({ users: 20, sessions: 2, machines: 3, overagePercentage: 25 })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      Licensed: true,
      UserLimit: 20,
      SessionLimit: 2,
      MaxMachines: 3,
      MachineCount: 1,
      Expires: '2099-01-01T00:00:00.000Z',
    })
    expect((await api.get(path)).body.data).toEqual(body.data)
    expect(await licensingSummary(api.db)).toEqual({
      Licensed: true,
      Expires: '2099-01-01T00:00:00.000Z',
      UserLimit: 20,
      UserLimitOverage: 5,
      UserLimitOveragePercentage: 25,
      SessionLimit: 2,
    })
    expect((await api.delete(path)).status).toBe(200)
    expect(await isLicensed(api.db)).toBe(false)
    expect((await api.delete(path)).status).toBe(404)
  })

  it.each<[string, () => string, string]>([
    [
      'signed by somebody else',
      () => api.licenceKey({}, generateKeyPairSync('ed25519').privateKey),
      'err.invalidLicence',
    ],
    [
      'with more users than were signed',
      () => forge(api.licenceKey(), (payload) => ({ ...payload, users: 9999 })),
      'err.invalidLicence',
    ],
    ['without its signature', () => api.licenceKey().split('.')[0] ?? '', 'err.invalidLicence'],
    ['that is no key', () => 'x.y.z', 'err.invalidLicence'],
    ['whose end is past', () => api.licenceKey({ expires: '2020-01-01T00:00:00Z' }), 'err.licenceExpired'],
  ])('%s is refused and changes nothing', async (_, key, Err) => {
    await api.license({ users: 7 })
    expect(await save(key())).toMatchObject({ status: 422, body: { Err } })
    expect((await api.get(path)).body.data).toMatchObject({ Licensed: true, UserLimit: 7 })
  })

  it('is refused as text of a wrong type or none', async () => {
    expect((await api.post(path, { License: 7 })).status).toBe(400)
    expect((await api.post(path, {})).status).toBe(400)
    expect((await api.post(path, { License: '' })).status).toBe(422)
  })
})

function forge(key: string, change: (payload: object) => object): string {
  const [said = '', signature = ''] = key.split('.')
  const payload = JSON.parse(Buffer.from(said, 'base64url').toString()) as object
  return `${Buffer.from(JSON.stringify(change(payload))).toString('base64url')}.${signature}`
}

describe('the users of a licence', () => {
  it('are the oldest up to its limit and overage; who is beyond loses the door, and gets it no sooner than back within', async () => {
    const ids = await users(5)
    await api.license({ users: 10 })
    expect(await licensedOf(ids)).toEqual([true, true, true, true, true])
    const [isFirstOpen, isLastOpen] = [await anOpenDoor(ids[0] ?? ''), await anOpenDoor(ids[4] ?? '')]
    await api.license({ users: 2, overagePercentage: 50 })
    expect(await licensedOf(ids)).toEqual([true, true, true, false, false])
    expect([await isFirstOpen(), await isLastOpen()]).toEqual(['open', 'closed'])
    await api.db
      .updateTable('users')
      .set({ deletedAt: new Date() })
      .where('id', '=', ids[1] ?? '')
      .execute()
    await evaluateLicence(api.db)
    expect(await licensedOf(ids)).toEqual([true, true, true, true, false])
    expect(await isLastOpen()).toBe('closed')
    await api.license({ users: 4 })
    expect(await licensedOf(ids)).toEqual([true, true, true, true, true])
    await api.delete(path)
    expect(await isFirstOpen()).toBe('closed')
  })

  it('keep their doors while one licence takes another’s place', async () => {
    const [id = ''] = await users(1)
    await api.license()
    const isOpen = await anOpenDoor(id)
    const before = api.orders.length
    await api.license()
    expect(await isOpen()).toBe('open')
    expect(api.orders.slice(before)).toEqual([])
  })
})

describe('the end of a licence', () => {
  beforeEach(async () => {
    await api.license({ expires: new Date(Date.now() + 3_600_000).toISOString() })
  })

  it('counts when it was seen twice, ten minutes apart, and closes nothing', async () => {
    const [id = ''] = await users(1)
    const isOpen = await anOpenDoor(id)
    expect(await evaluateLicence(api.db)).toBe('unchanged')
    await pass('2 hours')
    expect(await isLicensed(api.db)).toBe(true)
    expect(await evaluateLicence(api.db)).toBe('endSeen')
    await pass('9 minutes')
    expect(await evaluateLicence(api.db)).toBe('unchanged')
    expect(await isLicensed(api.db)).toBe(true)
    await pass('2 minutes')
    const answers = await Promise.all([
      evaluateLicence(api.db),
      evaluateLicence(api.db),
      evaluateLicence(api.db),
    ])
    expect(answers.toSorted()).toEqual(['ended', 'unchanged', 'unchanged'])
    expect(await isLicensed(api.db)).toBe(false)
    expect((await api.get(path)).body.data).toMatchObject({ Licensed: false, UserLimit: 100 })
    expect(await isOpen()).toBe('open')
    const told = (await api.audit()).filter(({ fields }) => fields['Description'] === 'licence ended')
    expect(told).toHaveLength(1)
    await api.license()
    expect(await isLicensed(api.db)).toBe(true)
  })

  it('is taken back when the clock was wrong', async () => {
    await pass('2 hours')
    await evaluateLicence(api.db)
    await pass('-2 hours')
    expect(await evaluateLicence(api.db)).toBe('backInTime')
    expect(await current()).toMatchObject({ expirySeenAt: null, endedAt: null })
    await pass('2 hours')
    expect(await evaluateLicence(api.db)).toBe('endSeen')
  })
})

describe('refreshing', () => {
  it('checks the recorded key anew', async () => {
    await api.license({ users: 33 })
    expect(await api.post(`${path}/refresh`, {})).toMatchObject({
      status: 200,
      body: { data: { UserLimit: 33 } },
    })
    await sql`update licences set licence_key = 'x' || licence_key where removed_at is null`.execute(api.db)
    const failed = { status: 409, body: { Err: 'err.failedToRefreshLicenseStatus' } }
    expect(await api.post(`${path}/refresh`, {})).toMatchObject(failed)
    await api.delete(path)
    expect(await api.post(`${path}/refresh`, {})).toMatchObject(failed)
  })
})

describe('knoc licence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-licence-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const keys = join(folder, 'keys')

  async function run(...argv: string[]) {
    const [out, err]: [string[], string[]] = [[], []]
    const code = await runLicenceCommand(argv, {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
    })
    return { code, out: out.join(''), err: err.join('') }
  }

  it('makes a key pair that only its owner can read, and never overwrites one', async () => {
    expect(await run('keygen', '--out', keys)).toMatchObject({ code: 0, err: '' })
    expect(statSync(join(keys, 'licence.key')).mode & 0o777).toBe(0o600)
    const before = readFileSync(join(keys, 'licence.key'), 'utf8')
    const again = await run('keygen', '--out', keys)
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain('EEXIST')
    expect(readFileSync(join(keys, 'licence.key'), 'utf8')).toBe(before)
  })

  it('issues a key that the public half confirms', async () => {
    const key = join(keys, 'licence.key')
    const words = `issue --users 25 --sessions 2 --expires 2027-12-31 --overage 0 --machines 2 --to ACME --key ${key}`
    const issued = await run(...words.split(' '))
    expect(issued).toMatchObject({ code: 0, err: '' })
    expect(readLicence(issued.out, readFileSync(join(keys, 'licence.pub'), 'utf8'))).toMatchObject({
      users: 25,
      sessions: 2,
      overagePercentage: 0,
      machines: 2,
      expires: '2027-12-31T23:59:59.000Z',
      issuedTo: 'ACME',
    })
  })

  it.each<[string, string[], number, string]>([
    ['nothing', [], 2, 'a command is missing'],
    ['an unknown command', ['sell'], 2, 'no command "sell"'],
    ['an inherited name', ['constructor'], 2, 'no command'],
    ['an unknown option', ['keygen', '--where', 'x'], 2, 'where'],
    ['no folder', ['keygen'], 2, '--out: is missing'],
    [
      'no users',
      ['issue', '--key', 'k', '--sessions', '1', '--expires', '2027-01-01'],
      2,
      '--users: is missing',
    ],
    [
      'a word for a number',
      ['issue', '--key', 'k', '--users', 'many', '--sessions', '1', '--expires', '2027-01-01'],
      2,
      '--users: is not a whole number',
    ],
    [
      'a day that isn’t',
      ['issue', '--key', 'k', '--users', '1', '--sessions', '1', '--expires', '2027-02-30'],
      2,
      '--expires: is neither',
    ],
    [
      'a month that isn’t',
      ['issue', '--key', 'k', '--users', '1', '--sessions', '1', '--expires', '2027-13-01'],
      2,
      '--expires: is neither',
    ],
    [
      'too much overage',
      [
        'issue',
        '--key',
        'k',
        '--users',
        '1',
        '--sessions',
        '1',
        '--expires',
        '2027-01-01',
        '--overage',
        '51',
      ],
      2,
      'overage',
    ],
    [
      'a key file that isn’t there',
      ['issue', '--key', 'none.key', '--users', '1', '--sessions', '1', '--expires', '2027-01-01'],
      1,
      'ENOENT',
    ],
  ])('refuses %s', async (_, argv, code, words) => {
    const told = await run(...argv)
    expect(told).toMatchObject({ code, out: '' })
    expect(told.err).toContain(words)
  })

  it('explains itself', async () => {
    for (const argv of [['--help'], ['help'], ['issue', '--help']])
      expect(await run(...argv)).toMatchObject({ code: 0, out: expect.stringContaining('keygen'), err: '' })
  })
})
