import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuditor } from '#server/entries/auditor.ts'
import { sweepOnce } from '#server/entries/sweep.ts'
import { hashToken, newToken } from '#server/platform/random.ts'
import { pruneOnce } from '#server/prune.query.ts'
import { entitle } from '#tests/support/builders.ts'
import { type ListApi, startListApi, type TestList } from '#tests/support/list-api.ts'
import { until } from '#tests/support/until.ts'

const proxy = '203.0.113.80'
let api: ListApi
beforeAll(async () => {
  api = await startListApi({ KNOC_TRUSTED_PROXIES: proxy })
})
afterAll(() => api.stop())

const readers = [{ prefix: '192.0.2.0/24', note: 'the office' }]

/** A list that is read without a key, from 192.0.2.0/24 unless said otherwise. */
const anOpenList = (AllowedIpAddresses: unknown = readers, more: Record<string, unknown> = {}) =>
  api.aList({ ApiKey: { Option: 'none' }, Config: { AllowedIpAddresses }, ...more })

/** Somebody at an address of his own, whose click put it on the list. */
async function aHolder(list: TestList, address = api.anAddress()) {
  const person = await api.aPerson(address, [list])
  const { status, body } = await person.post('/grant', { ACLID: list.aclId })
  if (status !== 200) throw new Error(`no grant: ${status} ${JSON.stringify(body)}`)
  return { ...person, address, revoke: () => person.delete(`/sessions/current/granted-acls/${list.aclId}`) }
}

const readWithKey = (list: TestList, options: Parameters<ListApi['fetchList']>[1] = {}) =>
  api.fetchList(list.path, { key: list.key, ...options })

const configOf = async ({ aclId }: TestList) =>
  (await api.console.get(`/admin/knocs/${aclId}`)).body.data.AclConfig.allowlist

const errorOf = ({ body }: { body: { Err?: string; Extra?: string } }) => [body.Err, body.Extra]

const scopesOf = async (id: string) =>
  (await api.db.selectFrom('apiKeys').select('scopes').where('id', '=', id).executeTakeFirstOrThrow()).scopes

const auditsOf = async (kind: string, aclId: string) => {
  const rows = await api.db.selectFrom('auditEvents').selectAll().where('kind', '=', kind).execute()
  return rows.filter((row) => (row.detail as { aclId?: string } | null)?.aclId === aclId)
}

describe('making a passive knoc', () => {
  it('needs no agent; with a new key answers the list’s address and, once, the key', async () => {
    const list = await api.aList()
    expect(list.url).toBe(`https://knoc.example/api/v1/allowlists/${list.aclId}/${list.token}.txt`)
    // 256 random bits each, in base64url.
    expect(list.token).toMatch(/^[\w-]{43}$/)
    expect(list.key).toMatch(/^[\w-]{43}$/)
    const config = await configOf(list)
    expect(config).toEqual({
      Token: list.token,
      ApiKeyId: config.ApiKeyId,
      AllowAccessByIp: false,
      AllowedIpAddresses: [],
    })
    expect(await scopesOf(config.ApiKeyId)).toEqual([`allowlists.read:${list.aclId}`])
    expect(JSON.stringify(await api.console.get(`/admin/knocs/${list.aclId}`))).not.toContain(list.key)
    const targets = await api.db
      .selectFrom('aclTargets')
      .innerJoin('targets', 'targets.id', 'aclTargets.targetId')
      .select(['aclTargets.family', 'targets.agentId', 'targets.id'])
      .where('aclId', '=', list.aclId)
      .execute()
    expect(targets.map(({ family, agentId }) => [family, agentId]).toSorted()).toEqual([
      [4, null],
      [6, null],
    ])
    expect(new Set(targets.map(({ id }) => id)).size).toBe(1)
  })

  it('shows it in the console’s lists and details like every other knoc', async () => {
    const list = await api.aList()
    const row = { BackendType: 'allowlist', AgentName: null, AgentOnline: false, OpenCount: 0 }
    expect((await api.console.get(`/admin/knocs/${list.aclId}`)).body.data).toMatchObject(row)
    const { data } = (await api.console.get('/admin/knocs')).body
    expect(data.find(({ ID }: { ID: string }) => ID === list.aclId)).toMatchObject(row)
    for (const path of ['/admin/acls', '/admin/backends'])
      expect((await api.console.get(path)).status).toBe(200)
  })

  it('takes the token from nobody, and keeps it through updates', async () => {
    const Token = 'a'.repeat(43)
    const given = await api.makeKnoc({ Config: { Token } })
    expect([given.status, ...errorOf(given)]).toEqual([422, 'err.invalidField', 'ACL.Config.allowlist.Token'])
    const list = await api.aList()
    const put = (allowlist: unknown) =>
      api.console.put(`/admin/knocs/${list.aclId}`, { ACL: { Config: { allowlist } } })
    expect((await put({ Token })).status).toBe(422)
    expect((await put(await configOf(list))).status).toBe(200)
    expect((await put({})).status).toBe(200)
    expect((await configOf(list)).Token).toBe(list.token)
  })

  it('an existing key gets the scope; a creation that fails afterwards takes it out again', async () => {
    const first = await api.aList()
    const { ApiKeyId } = await configOf(first)
    const second = await api.aList({ ApiKey: { Option: 'existing', ID: ApiKeyId } })
    expect(second.key).toBe('')
    const both = [`allowlists.read:${first.aclId}`, `allowlists.read:${second.aclId}`]
    expect(await scopesOf(ApiKeyId)).toEqual(both)
    const failed = await api.makeKnoc({
      ApiKey: { Option: 'existing', ID: ApiKeyId },
      UserIDs: [crypto.randomUUID()],
    })
    expect(errorOf(failed)).toEqual(['err.invalidField', 'UserIDs.0'])
    expect(await scopesOf(ApiKeyId)).toEqual(both)
    expect((await api.fetchList(second.path, { key: first.key })).status).toBe(200)
  })

  it.each([
    ['is unknown', {}],
    ['was deleted', { deletedAt: new Date() }],
    ['ran out', { expiredAfter: new Date(0) }],
    ['has another purpose', { purpose: 'user_auth' }],
  ])('refuses an existing key that %s', async (what, columns) => {
    const { id } = await api.db
      .insertInto('apiKeys')
      .values({ name: what, purpose: 'allowlists', keyHash: newToken(), ...columns })
      .returning('id')
      .executeTakeFirstOrThrow()
    const ID = what === 'is unknown' ? crypto.randomUUID() : id
    const answer = await api.makeKnoc({ ApiKey: { Option: 'existing', ID } })
    expect([answer.status, ...errorOf(answer)]).toEqual([422, 'err.invalidField', 'ApiKey.ID'])
  })

  it('a key’s name that is taken, or a failure after it, leaves nothing behind', async () => {
    const count = async () =>
      Promise.all(
        (['backends', 'acls', 'apiKeys', 'targets'] as const).map(
          async (table) => (await api.db.selectFrom(table).select('id').execute()).length,
        ),
      )
    await api.aList({ ApiKey: { Option: 'new', Name: 'Taken' } })
    const before = await count()
    const taken = await api.makeKnoc({ ApiKey: { Option: 'new', Name: 'taken' } })
    expect([taken.status, ...errorOf(taken)]).toEqual([409, 'err.apiKeyNameTaken', undefined])
    const failed = await api.makeKnoc({ GroupIDs: [crypto.randomUUID()] })
    expect(errorOf(failed)).toEqual(['err.invalidField', 'GroupIDs.0'])
    expect(await count()).toEqual(before)
  })

  const required = ['err.allowlistAccessIpRestrictionFormRequired', 'ACL.Config.allowlist.AllowedIpAddresses']
  it.each([
    ['nothing at all', { ApiKey: undefined }, required],
    ['no ranges', { ApiKey: { Option: 'none' } }, required],
    ['an empty list', { ApiKey: { Option: 'none' }, Config: { AllowedIpAddresses: [] } }, required],
    [
      'neither way in',
      { ApiKey: { Option: 'none' }, Config: { AllowAccessByIp: false, AllowedIpAddresses: readers } },
      required,
    ],
    [
      'a prefix that is none',
      { ApiKey: { Option: 'none' }, Config: { AllowedIpAddresses: [{ prefix: '192.0.2.0/33', note: '' }] } },
      ['err.invalidCidr', 'ACL.Config.allowlist.AllowedIpAddresses.0.prefix'],
    ],
    [
      'ranges beside a key',
      { Config: { AllowedIpAddresses: readers } },
      ['err.invalidField', 'ACL.Config.allowlist.AllowAccessByIp'],
    ],
    [
      'a key beside ApiKey',
      { Config: { ApiKeyId: crypto.randomUUID() } },
      ['err.invalidField', 'ACL.Config.allowlist.ApiKeyId'],
    ],
    [
      'an agent',
      { Backend: { AgentID: crypto.randomUUID(), Config: { allowlist: {} } } },
      ['err.agentIdInvalid', undefined],
    ],
  ])('refuses %s', async (_, body, error) => {
    const answer = await api.makeKnoc(body)
    expect([answer.status, ...errorOf(answer)]).toEqual([422, ...error])
  })

  it('a key for a knoc that has no list is refused', async () => {
    const answer = await api.makeKnoc({
      Backend: { AgentID: crypto.randomUUID(), Config: { ipset: {} } },
      ACL: { Config: { ipset: { V4SetName: 'a' } } },
    })
    expect(errorOf(answer)).toEqual(['err.invalidField', 'ApiKey'])
  })

  it.each(['0.0.0.0/0', '::/0'])(
    'a list without a key is open to %s only when that is confirmed, once',
    async (prefix) => {
      const body = {
        ApiKey: { Option: 'none' },
        Config: { AllowedIpAddresses: [...readers, { prefix, note: '' }] },
      }
      const refused = await api.makeKnoc(body)
      expect([refused.status, ...errorOf(refused)]).toEqual([
        409,
        'err.confirmWholeInternet',
        'ACL.Config.allowlist.AllowedIpAddresses',
      ])
      const list = await api.aList({ ...body, ConfirmWholeInternet: true })
      const peer = prefix === '::/0' ? '2001:db8::9' : '203.0.113.9'
      expect((await api.fetchList(list.path, { peer })).status).toBe(200)
      // What was confirmed needs it no more; another list would.
      const change = { ACL: { Description: `Open to ${prefix}` } }
      expect((await api.console.put(`/admin/knocs/${list.aclId}`, change)).status).toBe(200)
      const narrow = await anOpenList()
      const widen = { ACL: { Config: { allowlist: body.Config } } }
      expect(errorOf(await api.console.put(`/admin/knocs/${narrow.aclId}`, widen))[0]).toBe(
        'err.confirmWholeInternet',
      )
      expect(
        (await api.console.put(`/admin/knocs/${narrow.aclId}`, { ...widen, ConfirmWholeInternet: true }))
          .status,
      ).toBe(200)
    },
  )

  it('an update moves a list between keys, and to none, with their scopes', async () => {
    const [list, other] = [await api.aList(), await api.aList()]
    const [before, after] = [(await configOf(list)).ApiKeyId, (await configOf(other)).ApiKeyId]
    const put = (allowlist: unknown) =>
      api.console.put(`/admin/knocs/${list.aclId}`, { ACL: { Config: { allowlist } } })
    expect((await put({ ApiKeyId: after })).status).toBe(200)
    expect(await scopesOf(before)).toEqual([])
    expect(await scopesOf(after)).toContain(`allowlists.read:${list.aclId}`)
    expect([
      (await readWithKey(list)).status,
      (await api.fetchList(list.path, { key: other.key })).status,
    ]).toEqual([401, 200])
    expect((await put({ ApiKeyId: null })).status).toBe(422)
    expect((await put({ ApiKeyId: null, AllowedIpAddresses: readers })).status).toBe(200)
    expect(await scopesOf(after)).not.toContain(`allowlists.read:${list.aclId}`)
    expect((await api.fetchList(list.path)).status).toBe(200)
  })

  it('one by one: an ACL on an allowlist backend has the same rules', async () => {
    const backend = await api.console.post('/admin/backends', {
      Name: 'Lists',
      AgentID: null,
      Config: { allowlist: {} },
    })
    const post = (allowlist: unknown, more = {}) =>
      api.console.post('/admin/acls', {
        Description: 'One by one',
        BackendID: backend.body.data.ID,
        Config: { allowlist },
        ...more,
      })
    expect(errorOf(await post({}))[0]).toBe('err.allowlistAccessIpRestrictionFormRequired')
    expect((await post({ Token: 'mine', AllowedIpAddresses: readers })).status).toBe(422)
    expect(errorOf(await post({ AllowedIpAddresses: [{ prefix: '::/0' }] }))[0]).toBe(
      'err.confirmWholeInternet',
    )
    const made = await post({ AllowedIpAddresses: readers })
    const { ID: aclId } = made.body.data
    const { Token } = await configOf({ aclId } as TestList)
    expect((await api.fetchList(`/api/v1/allowlists/${aclId}/${Token}.txt`)).status).toBe(200)
  })

  it('only an administrator makes one', async () => {
    const user = await api.aPerson(api.anAddress())
    expect((await user.post('/admin/knocs', {})).status).toBe(401)
    expect((await api.browser(api.anAddress()).post('/admin/knocs', {})).status).toBe(401)
  })
})

describe('who may read', () => {
  it('by a key: HTTP basic with any user name, or Bearer; 401 with Basic when it is missing or wrong', async () => {
    const [list, other] = [await api.aList(), await api.aList()]
    expect((await readWithKey(list)).status).toBe(200)
    expect((await readWithKey(list, { bearer: true })).status).toBe(200)
    const user = await api.aPerson(api.anAddress(), [list])
    const cookies = [...user.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const refused = [
      await api.fetchList(list.path),
      await api.fetchList(list.path, { key: newToken() }),
      await api.fetchList(list.path, { key: other.key }),
      await api.fetchList(list.path, { key: list.token }),
      await api.fetchList(list.path, { headers: { Cookie: cookies } }),
    ]
    for (const { status, headers, text, etag } of refused) {
      expect([status, JSON.parse(text).Err, etag]).toEqual([401, 'err.invalidApiKey', null])
      expect(headers.get('WWW-Authenticate')).toMatch(/^Basic realm=/)
    }
  })

  it.each([
    ['was deleted', { deletedAt: new Date() }],
    ['ran out', { expiredAfter: new Date(0) }],
    ['has another purpose', { purpose: 'user_auth' }],
    ['has lost the scope', { scopes: [] }],
  ])('a list whose key %s refuses every reading, and never turns anonymous', async (_, columns) => {
    const list = await api.aList()
    const { ApiKeyId } = await configOf(list)
    await api.db.updateTable('apiKeys').set(columns).where('id', '=', ApiKeyId).execute()
    expect([(await readWithKey(list)).status, (await api.fetchList(list.path)).status]).toEqual([401, 401])
  })

  it('an unknown list, another list’s token and what is no list are 404 alike', async () => {
    const [list, other] = [await anOpenList(), await anOpenList()]
    const { aclId } = await api.aKnoc()
    const lists = '/api/v1/allowlists'
    const paths = [
      `${lists}/${crypto.randomUUID()}/${list.token}.txt`,
      `${lists}/${list.aclId}/${other.token}.txt`,
      `${lists}/${list.aclId}/${list.token}x.txt`,
      `${lists}/${list.aclId}/.txt`,
      `${lists}/${list.aclId}/${list.token}`,
      `${lists}/${list.aclId}/${list.token}.csv`,
      `${lists}/not-an-id/${list.token}.txt`,
      `${lists}/${aclId}/${list.token}.txt`,
      `${lists}/${aclId}/undefined.txt`,
    ]
    for (const path of paths) {
      const { status, text } = await api.fetchList(path)
      expect([path, status, text]).toEqual([path, 404, '{"Err":"err.notFound"}'])
    }
    // Not even a good key finds out more.
    const keyed = await api.aList()
    expect((await api.fetchList(`${lists}/${keyed.aclId}/x.txt`, { key: keyed.key })).status).toBe(404)
    expect((await api.fetchList(list.path, { method: 'POST' })).status).toBe(405)
  })

  it('from where: a key’s AllowedFrom, or the list’s own ranges; another address is 403', async () => {
    const keyed = await api.aList({
      ApiKey: { Option: 'new', Name: 'From the office', AllowedFrom: readers },
    })
    const keyless = await anOpenList([...readers, { prefix: '2001:db8:1::/48', note: '' }])
    const from = async (peer: string) => {
      const answers = [
        await readWithKey(keyed, { peer }),
        await api.fetchList(keyless.path, { peer }),
        // A key opens no list that goes by addresses.
        await api.fetchList(keyless.path, { peer, key: keyed.key }),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await from('192.0.2.10')).toEqual([200, 200, 200])
    expect(await from('::ffff:192.0.2.10')).toEqual([200, 200, 200])
    expect(await from('192.0.3.10')).toEqual([403, 403, 403])
    expect(await from('2001:db8:1::7')).toEqual([403, 200, 200])
    expect(await from('2001:db8:2::7')).toEqual([403, 403, 403])
    expect(await from('')).toEqual([403, 403, 403])
    const { text } = await api.fetchList(keyless.path, { peer: '192.0.3.10' })
    expect(JSON.parse(text)).toEqual({ Err: 'err.addressNotAllowed', Extra: '192.0.3.10' })
  })

  it('behind a proxy: the address a trusted one names; a header from anybody else is refused', async () => {
    const [keyed, keyless] = [await api.aList(), await anOpenList()]
    const headers = { 'X-Forwarded-For': '192.0.2.10' }
    expect((await api.fetchList(keyless.path, { peer: proxy, headers })).status).toBe(200)
    expect((await api.fetchList(keyless.path, { peer: proxy })).status).toBe(403)
    const spoofed = { 'X-Forwarded-For': '192.0.2.10, 203.0.113.9' }
    expect((await api.fetchList(keyless.path, { peer: proxy, headers: spoofed })).status).toBe(403)
    for (const peer of ['203.0.113.9', '192.0.2.10'])
      for (const { status, text } of [
        await api.fetchList(keyless.path, { peer, headers }),
        await readWithKey(keyed, { peer, headers }),
      ])
        expect([status, JSON.parse(text)]).toEqual([403, { Err: 'err.proxyNotTrusted', Extra: peer }])
  })
})

describe('what is read', () => {
  it('one address a line, both families, sorted as numbers, a newline at the end', async () => {
    const list = await anOpenList()
    const addresses = ['198.51.99.20', '198.51.99.3', '2001:db8::a', '2001:db8::9', '9.9.9.9']
    for (const address of addresses) await aHolder(list, address)
    const { text, headers } = await api.fetchList(list.path)
    expect(text).toBe('9.9.9.9\n198.51.99.3\n198.51.99.20\n2001:db8::9\n2001:db8::a\n')
    expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('Cache-Control')).toBe('private, no-cache')
    expect(Math.abs(Date.parse(headers.get('X-Knoc-Now') ?? '') - Date.now())).toBeLessThan(60_000)
  })

  it('is empty, and no error, while nobody may', async () => {
    const list = await anOpenList()
    const { status, text, etag } = await api.fetchList(list.path)
    expect([status, text]).toEqual([200, ''])
    expect((await api.fetchList(list.path, { etag })).status).toBe(304)
    expect((await api.fetchList(list.json)).text).toBe('{"Entries":[]}\n')
  })

  it('with its ends as JSON: each the grant’s own, never later', async () => {
    const list = await anOpenList()
    const { address } = await aHolder(list)
    const { text, headers } = await api.fetchList(list.json)
    expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8')
    const { until } = await api.db
      .selectFrom('entries')
      .select('until')
      .where('address', '=', address)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(text)).toEqual({ Entries: [{ Address: address, Until: until?.toISOString() }] })
  })

  it('has a strong ETag of its bytes: 304 to the same, also weak, in a list or *, and 200 after a change', async () => {
    const list = await anOpenList()
    const holder = await aHolder(list)
    const { etag, text } = await api.fetchList(list.path)
    expect(etag).toMatch(/^"[\w-]{43}"$/)
    expect((await api.fetchList(list.json)).etag).not.toBe(etag)
    for (const same of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const known = await api.fetchList(list.path, { etag: same })
      expect([known.status, known.text, known.etag]).toEqual([304, '', etag])
    }
    expect((await api.fetchList(list.path, { etag: '"other"' })).text).toBe(text)
    await holder.revoke()
    const after = await api.fetchList(list.path, { etag })
    expect([after.status, after.text]).toEqual([200, ''])
    await aHolder(list, holder.address)
    expect((await api.fetchList(list.path)).etag).toBe(etag)
  })

  it('HEAD says what GET would, and reads nothing', async () => {
    const list = await anOpenList()
    const holder = await aHolder(list)
    const head = await api.fetchList(list.path, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await api.entryOf(holder, list)).Status).toBe(6)
    expect(await readsOf(list)).toEqual([])
    expect((await api.fetchList(list.path)).etag).toBe(head.etag)
    expect((await api.entryOf(holder, list)).Status).toBe(5)
    expect((await api.fetchList(list.path, { method: 'HEAD', etag: head.etag })).status).toBe(304)
  })

  it('leaves an entry out from its end on, though every sweep is dead', async () => {
    const list = await anOpenList()
    const [ends, stays] = [await aHolder(list), await aHolder(list)]
    await sql`
      update entries set until = clock_timestamp() + interval '400 milliseconds'
      where address = ${ends.address}::inet`.execute(api.db)
    expect((await api.fetchList(list.path)).text).toContain(`${ends.address}\n`)
    await sql`select pg_sleep(0.5)`.execute(api.db)
    expect((await api.fetchList(list.path)).text).toBe(`${stays.address}\n`)
    expect(JSON.parse((await api.fetchList(list.json)).text).Entries).toHaveLength(1)
  })

  it('others hold an address together: it stays until the last one leaves', async () => {
    const list = await anOpenList()
    const address = api.anAddress()
    const [first, second] = [await aHolder(list, address), await aHolder(list, address)]
    await first.revoke()
    expect((await api.fetchList(list.path)).text).toBe(`${address}\n`)
    await second.revoke()
    expect((await api.fetchList(list.path)).text).toBe('')
  })

  it('never has addresses of another list', async () => {
    const [list, other] = [await anOpenList(), await anOpenList()]
    const { address } = await aHolder(list)
    await aHolder(other)
    expect((await api.fetchList(list.path)).text).toBe(`${address}\n`)
  })

  it('is settled, swept and audited without an agent', async () => {
    const list = await anOpenList()
    const holder = await aHolder(list)
    await sql`
      update grants set ends_at = now() - interval '1 second' where acl_id = ${list.aclId}::uuid`.execute(
      api.db,
    )
    await sql`
      update entries set until = now() - interval '1 second', ordered_until = now() - interval '1 second'
      where address = ${holder.address}::inet`.execute(api.db)
    const deps = { db: api.db, gateway: { nudge: () => undefined }, events: { publish: () => undefined } }
    await sweepOnce(deps)
    const entry = await api.db
      .selectFrom('entries')
      .selectAll()
      .where('address', '=', holder.address)
      .executeTakeFirstOrThrow()
    expect(entry).toMatchObject({ desired: 'closed' })
    const auditor = createAuditor({
      ...deps,
      rights: api.rights,
      reads: api.db,
      log: api.people.deps.log,
    })
    expect(await auditor.audit()).toBe(0)
    // A live grant whose entry is missing is made good, and is read again.
    const other = await aHolder(list)
    await sql`delete from entries where address = ${other.address}::inet`.execute(api.db)
    expect(await auditor.audit()).toBe(1)
    expect((await api.fetchList(list.path)).text).toBe(`${other.address}\n`)
  })
})

const readsOf = async ({ aclId }: TestList) =>
  api.db.selectFrom('listReads').selectAll().where('aclId', '=', aclId).orderBy('consumer').execute()

/** Everything noted of this list so far is that much older. */
const age = ({ aclId }: TestList, seconds: number) =>
  sql`
    update list_reads set read_at = read_at - make_interval(secs => ${seconds}),
      previous_read_at = previous_read_at - make_interval(secs => ${seconds})
    where acl_id = ${aclId}::uuid`.execute(api.db)

describe('what a reading moves', () => {
  it('4 → 6 → 5 → 8 → 9 by polling, with 200 and with 304 alike', async () => {
    const list = await api.aList()
    const address = api.anAddress()
    const person = await api.aPerson(address, [list])
    expect((await api.entryOf(person, list)).Status).toBe(4)
    const { etag: empty } = await readWithKey(list)
    await person.post('/grant', { ACLID: list.aclId })
    expect((await api.entryOf(person, list)).Status).toBe(6)
    const { etag } = await readWithKey(list, { etag: empty })
    const read = await api.entryOf(person, list)
    expect([read.Status, read.VerifiedAt]).toEqual([5, null])
    expect(Math.abs(Date.parse(read.ListReadAt ?? '') - Date.now())).toBeLessThan(60_000)
    await person.delete(`/sessions/current/granted-acls/${list.aclId}`)
    expect((await api.entryOf(person, list)).Status).toBe(8)
    expect((await readWithKey(list, { etag })).status).toBe(200)
    expect((await api.entryOf(person, list)).Status).toBe(9)
    // Granted again, to a firewall that has this very list from before.
    await person.post('/grant', { ACLID: list.aclId })
    expect((await api.entryOf(person, list)).Status).toBe(6)
    expect((await readWithKey(list, { etag })).status).toBe(304)
    expect((await api.entryOf(person, list)).Status).toBe(5)
    await person.delete(`/sessions/current/granted-acls/${list.aclId}`)
    expect((await readWithKey(list, { etag: empty })).status).toBe(304)
    expect((await api.entryOf(person, list)).Status).toBe(9)
  })

  it('a revoke before anybody read it is 9 at once; a new grant at 8 is 6', async () => {
    const list = await anOpenList()
    const holder = await aHolder(list)
    expect((await holder.revoke()).body.data.Status).toBe(9)
    await holder.post('/grant', { ACLID: list.aclId })
    await api.fetchList(list.path)
    expect((await holder.revoke()).body.data.Status).toBe(8)
    expect((await holder.post('/grant', { ACLID: list.aclId })).body.data.Status).toBe(6)
    await api.fetchList(list.path)
    expect((await api.entryOf(holder, list)).Status).toBe(5)
    await holder.revoke()
    await api.fetchList(list.path)
    // What was read before it was gone counts no more.
    await holder.post('/grant', { ACLID: list.aclId })
    expect((await holder.revoke()).body.data.Status).toBe(9)
  })

  it('a reading that was refused moves nothing', async () => {
    const list = await anOpenList()
    const holder = await aHolder(list)
    await api.fetchList(list.path, { peer: '203.0.113.9' })
    await api.fetchList(list.path.replace(list.token, newToken()))
    expect((await api.entryOf(holder, list)).Status).toBe(6)
    expect(await readsOf(list)).toEqual([])
  })

  it('who comes to an address that was read already is read with the next reading', async () => {
    const list = await anOpenList()
    const address = api.anAddress()
    const first = await aHolder(list, address)
    await api.fetchList(list.path)
    const second = await aHolder(list, address)
    expect([(await api.entryOf(first, list)).Status, (await api.entryOf(second, list)).Status]).toEqual([
      5, 6,
    ])
    await api.fetchList(list.path)
    expect((await api.entryOf(second, list)).Status).toBe(5)
  })

  it('tells the pages of whom it moved, and of nobody else', async () => {
    const list = await anOpenList()
    await aHolder(list)
    await api.fetchList(list.path)
    const [first] = [await aHolder(list), await aHolder(await anOpenList())]
    api.told.length = 0
    await api.fetchList(list.path)
    const sessions = await api.db.selectFrom('sessions').select('id').where('userId', '=', first.id).execute()
    expect(api.told).toEqual(sessions.map(({ id }) => id))
    await api.fetchList(list.path)
    expect(api.told).toHaveLength(1)
  })

  it('is noted for each consumer: a key by its id, else the address', async () => {
    const [keyed, keyless] = [await api.aList(), await anOpenList()]
    await readWithKey(keyed, { peer: '192.0.2.10' })
    await readWithKey(keyed, { peer: '192.0.2.11' })
    await api.fetchList(keyless.path, { peer: '192.0.2.10' })
    await api.fetchList(keyless.path, { peer: '::ffff:192.0.2.11', key: keyed.key })
    expect((await readsOf(keyed)).map((row) => row.consumer)).toEqual([(await configOf(keyed)).ApiKeyId])
    expect((await readsOf(keyless)).map((row) => row.consumer)).toEqual(['192.0.2.10', '192.0.2.11'])
    const key = await api.db
      .selectFrom('apiKeys')
      .select('lastUsedAt')
      .where('id', '=', (await configOf(keyed)).ApiKeyId)
      .executeTakeFirstOrThrow()
    expect(Math.abs((key.lastUsedAt?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('an unchanged list is noted once in 10 s and audited once, however often it is polled', async () => {
    const list = await anOpenList()
    await aHolder(list)
    await api.fetchList(list.path)
    const [first] = await readsOf(list)
    const writes = async () => {
      const { rows } = await sql<{ xmins: string }>`
        select coalesce((select xmin::text from list_reads where acl_id = ${list.aclId}::uuid), '') || ' '
          || coalesce((select string_agg(e.xmin::text, ' ') from entries e join acl_targets t on t.target_id = e.target_id
            where t.acl_id = ${list.aclId}::uuid), '') as xmins`.execute(api.db)
      return rows[0]?.xmins
    }
    const before = await writes()
    for (let poll = 0; poll < 5; poll += 1) {
      await api.fetchList(list.path, { etag: first?.etag ?? null })
      await api.fetchList(list.json)
    }
    expect(await writes()).toBe(before)
    await age(list, 11)
    const [aged] = await readsOf(list)
    await api.fetchList(list.path)
    const [second] = await readsOf(list)
    expect(second?.previousReadAt).toEqual(aged?.readAt)
    expect(second?.readAt.getTime()).toBeGreaterThan(aged?.readAt.getTime() ?? 0)
    expect(await auditsOf('AllowlistRetrieved', list.aclId)).toHaveLength(1)
  })

  it('each list that a consumer didn’t have is an audit event, with the key’s name and no secret', async () => {
    const list = await api.aList({ ApiKey: { Option: 'new', Name: 'Edge firewall' } })
    await readWithKey(list)
    await aHolder(list)
    await readWithKey(list)
    await readWithKey(list)
    const told = await auditsOf('AllowlistRetrieved', list.aclId)
    expect(told.map(({ fields }) => fields)).toEqual(
      [0, 1].map(() => ({
        AclDescription: expect.stringMatching(/^Firewall \d+$/),
        IpAddress: '192.0.2.10',
        Description: 'Edge firewall',
      })),
    )
    expect(told.map(({ detail }) => (detail as { entries: number }).entries)).toEqual([0, 1])
    expect(JSON.stringify(told)).not.toContain(list.token)
    expect(JSON.stringify(told)).not.toContain(list.key)
  })

  it('a grant that is taken away while a firewall reads is never shown as gone from what it got', async () => {
    const list = await anOpenList()
    for (let round = 0; round < 12; round += 1) {
      const holder = await aHolder(list)
      const [read] = await Promise.all([api.fetchList(list.path), holder.revoke()])
      expect(read.status).toBe(200)
      const { Status } = await api.entryOf(holder, list)
      expect([round, Status]).toEqual([round, read.text.includes(`${holder.address}\n`) ? 8 : 9])
      await api.fetchList(list.path)
      expect((await api.entryOf(holder, list)).Status).toBe(9)
    }
  })

  it('what is ordered while a reading is noted stays to be read: the firewall gets what was before', async () => {
    const list = await anOpenList()
    const holder = await aHolder(list)
    const waits = async () => {
      const { rows } = await sql<{ waits: boolean }>`
        select exists (select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock') as waits`.execute(api.db)
      return rows[0]?.waits === true
    }
    const reading = await api.db.transaction().execute(async (tx) => {
      await sql`select id from entries where address = ${holder.address}::inet for update`.execute(tx)
      const asked = api.fetchList(list.path)
      await until('the reading waits for the entry', waits)
      await sql`
        update grants set ended_at = now(), ended_reason = 'revoked' where acl_id = ${list.aclId}::uuid`.execute(
        tx,
      )
      await sql`
        update entries set desired = 'closed', generation = nextval('generations')
        where address = ${holder.address}::inet`.execute(tx)
      return { asked }
    })
    expect((await reading.asked).text).toBe(`${holder.address}\n`)
    expect((await api.entryOf(holder, list)).Status).toBe(8)
    expect((await api.fetchList(list.path)).text).toBe('')
    expect((await api.entryOf(holder, list)).Status).toBe(9)
  })

  it('more than a thousand entries at once are settled, and their firewall is told of all', async () => {
    const list = await anOpenList()
    await fill(list, 2_500)
    const { text } = await api.fetchList(list.path)
    expect(text.split('\n')).toHaveLength(2_501)
    const { rows } = await sql<{ unsettled: number }>`
      select count(*)::int as unsettled from entries e join acl_targets t on t.target_id = e.target_id and t.family = 4
      where t.acl_id = ${list.aclId}::uuid and e.applied_generation < e.generation`.execute(api.db)
    expect(rows[0]?.unsettled).toBe(0)
  })
})

/** Entries of a list as thousands of grants would have left them. */
async function fill({ aclId }: TestList, count: number): Promise<void> {
  await sql`
    insert into entries (target_id, address, desired, until, ordered_until, generation)
    select t.target_id, '10.0.0.0'::inet + n, 'open', now() + interval '1 hour', now() + interval '1 hour',
      nextval('generations')
    from acl_targets t, generate_series(1, ${count}::int) n
    where t.acl_id = ${aclId}::uuid and t.family = 4`.execute(api.db)
}

describe('a knoc that is deleted while it is open', () => {
  it('leaves an empty list to those who read it, so that they take off what they have', async () => {
    const [keyed, keyless, never] = [await api.aList(), await anOpenList(), await api.aList()]
    for (const list of [keyed, keyless]) {
      await aHolder(list)
      await api.fetchList(list.path, { key: keyed.key })
    }
    const { ApiKeyId } = await configOf(keyed)
    for (const list of [keyed, keyless, never])
      expect((await api.console.delete(`/admin/knocs/${list.aclId}`)).status).toBe(200)
    // Its scope goes with it; the key stays until an administrator deletes it.
    expect(await scopesOf(ApiKeyId)).toEqual([])
    const answers = [await readWithKey(keyed), await api.fetchList(keyless.path), await readWithKey(never)]
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, ''],
      [200, ''],
      [200, ''],
    ])
    expect((await api.fetchList(keyed.path, { key: never.key })).status).toBe(401)
    expect((await api.fetchList(keyed.path)).status).toBe(401)
    expect((await api.fetchList(keyless.path, { peer: '203.0.113.9' })).status).toBe(403)
    const debts = await api.db
      .selectFrom('entries')
      .innerJoin('targets', 'targets.id', 'entries.targetId')
      .select('entries.id')
      .where('targets.key', 'in', [`allowlist:${keyed.aclId}`, `allowlist:${keyless.aclId}`])
      .whereRef('appliedGeneration', '<', 'generation')
      .execute()
    expect(debts).toEqual([])
  })
})

it('what was taken off a list and nobody reads any more is forgotten in time, and so is the reader', async () => {
  const list = await anOpenList()
  const [unread, read, open] = [await aHolder(list), await aHolder(list), await aHolder(list)]
  await unread.revoke()
  await api.fetchList(list.path)
  const never = await aHolder(list)
  await never.revoke()
  await read.revoke()
  const left = async () => {
    await pruneOnce(api.db)
    const rows = await api.db
      .selectFrom('entries')
      .innerJoin('aclTargets', 'aclTargets.targetId', 'entries.targetId')
      .select('entries.address')
      .where('aclTargets.aclId', '=', list.aclId)
      .where('aclTargets.family', '=', 4)
      .execute()
    return rows.map(({ address }) => address).toSorted()
  }
  const passDays = (days: number) =>
    sql`update entries set ordered_at = now() - make_interval(days => ${days}, mins => 1)
      where address = any (${[unread, read, open, never].map(({ address }) => address)}::inet[])`.execute(
      api.db,
    )
  expect(await left()).toHaveLength(4)
  await passDays(1)
  expect(await left()).toEqual([read.address, open.address].toSorted())
  await passDays(90)
  expect(await left()).toEqual([open.address])
  expect(await readsOf(list)).toHaveLength(1)
  await age(list, 91 * 86_400)
  await left()
  expect(await readsOf(list)).toEqual([])
})

describe('a list of 10,000 entries', () => {
  it('is one SELECT by index, which looks at no grant but its own', async () => {
    const list = await anOpenList()
    const crowd = await anOpenList()
    await fill(list, 10_000)
    await fill(crowd, 40_000)
    const person = await api.aPerson(api.anAddress())
    await entitle(api.db, person.id, crowd.aclId)
    await sql`
      insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
      select s.id, s.user_id, ${crowd.aclId}::uuid, '10.0.0.0'::inet + n, '10.0.0.0'::inet + n, 'own', 'click', s.ends_at
      from sessions s, generate_series(1, 20000) n where s.user_id = ${person.id}::uuid`.execute(api.db)
    await api.fetchList(list.path)
    await sql`analyze entries, grants, targets, acl_targets, list_reads`.execute(api.db)
    const { toReading } = await import('#server/allowlists/allowlist.query.ts')
    const reading = toReading({ id: list.aclId, isDeleted: false }, '192.0.2.10')
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${reading}`.execute(api.db)
    const plan = rows.map((row) => Object.values(row)[0]).join('\n')
    expect(plan).toMatch(/Index.* on entries|Bitmap Heap Scan on entries/)
    expect(plan).not.toMatch(/Seq Scan on (grants|entries)/)
    const { text } = await api.fetchList(list.path)
    expect(text.split('\n')).toHaveLength(10_001)
  })
})

it('keys of lists sign nobody in, and keys that sign in read no list', async () => {
  const list = await api.aList()
  const signIn = await api.app.request(
    '/api/v1/user_auth',
    { method: 'POST', headers: { Authorization: `Bearer ${list.key}` } },
    { peer: '192.0.2.10' },
  )
  expect(signIn.status).toBe(403)
  const key = newToken()
  await api.db
    .insertInto('apiKeys')
    .values({
      name: 'A machine',
      purpose: 'user_auth',
      keyHash: hashToken(key),
      scopes: [`allowlists.read:${list.aclId}`],
      allowedFrom: JSON.stringify([{ prefix: '0.0.0.0/0' }]),
    })
    .execute()
  expect((await api.fetchList(list.path, { key })).status).toBe(401)
})
