import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeNonce } from '#server/discovery/nonce.ts'
import { dropDoubtedAddresses, dropUntrustedClaims } from '#server/grants/give-up.ts'
import {
  type DiscoveryApi,
  ownAddress,
  revalidated,
  startDiscoveryApi,
  statusOf,
} from '#tests/support/discovery-api.ts'
import { anAdmin, aUser, auditOf, rightPassword } from '#tests/support/people-builders.ts'

const proxy = '10.9.9.9'

let api: DiscoveryApi
beforeAll(async () => {
  api = await startDiscoveryApi({
    KNOC_TRUSTED_PROXIES: proxy,
    KNOC_IPV4_HOST: 'v4.knoc.example',
    KNOC_IPV6_HOST: 'v6.knoc.example',
  })
})
afterAll(() => api.stop())
beforeEach(() => api.set({ DiscoverIP: true, DiscoverIPURL: '', TrustDiscoveryClaims: false }))

/** Addresses that nobody else in these tests has. */
let last = 0
const addresses = (count: number): string[] =>
  Array.from({ length: count }, () => `198.51.${100 + Math.floor(++last / 250)}.${(last % 250) + 1}`)
const one = (): string => addresses(1)[0] ?? ''

const notSeen = (IP: string) => ({ status: 409, body: { Err: 'err.addressNotSeen', Extra: IP } })

describe('what lookup ports prove', () => {
  it('covers every knoc that is open to CGNAT, live ones and later ones, and no other', async () => {
    const [own, two, three] = addresses(3) as [string, string, string]
    const cgnat = await api.aKnoc()
    const plain = await api.aKnoc({ cgnatOpen: false })
    const later = await api.aKnoc({ clickToGrant: true })
    const person = await api.aPerson(own, [cgnat, plain, later])
    const nonce = await person.nonce()
    expect(await (await api.lookUp(222, two, nonce)).text()).toBe(two)
    await api.lookUp(3389, three, nonce)
    const answer = await person.post('/log_ips', {
      IPs: [
        { Port: 222, IP: two },
        { Port: 3389, IP: three },
      ],
    })
    expect(answer).toMatchObject({ status: 200, body: { data: null } })
    expect(await api.openFor(cgnat)).toEqual([own, two, three].toSorted())
    expect(await api.openFor(plain)).toEqual([own])
    expect((await statusOf(person)).Addresses).toEqual([
      { IP: own, Source: 'own' },
      ...[two, three].toSorted().map((IP) => ({ IP, Source: 'discovered' })),
    ])
    expect(await api.openFor(later)).toEqual([])
    await person.post('/grant', { ACLID: later.aclId })
    expect(await api.openFor(later)).toEqual([own, two, three].toSorted())
    const events = await auditOf(api.people, person.userName)
    expect(events.filter(({ kind }) => kind === 'PortWalkGrant').map(({ fields }) => fields)).toEqual(
      [two, three].map((IpAddress) => ({ UserName: person.userName, IpAddress })),
    )
  })

  it('is closed for the rest when the knoc isn’t open to CGNAT any more', async () => {
    const [own, two] = addresses(2) as [string, string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    await api.lookUp(443, two, await person.nonce())
    await person.post('/log_ips', { IPs: [{ Port: 443, IP: two }] })
    expect(await api.openFor(knoc)).toEqual([own, two].toSorted())
    await api.rights.change({ acls: [knoc.aclId] }, 'knocChanged', async (tx) => {
      await tx.updateTable('acls').set({ cgnatOpen: false }).where('id', '=', knoc.aclId).execute()
    })
    expect(await api.openFor(knoc)).toEqual([own])
  })

  it('is four addresses a session at most; more are refused and written down', async () => {
    const [own, ...found] = addresses(5) as [string, string, string, string, string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    const nonce = await person.nonce()
    const IPs = [443, 222, 3389, 8000].map((Port, index) => ({ Port, IP: found[index] ?? '' }))
    for (const { Port, IP } of IPs) await api.lookUp(Port, IP, nonce)
    expect((await person.post('/log_ips', { IPs })).status).toBe(200)
    expect(await api.openFor(knoc)).toHaveLength(4)
    const refused = (await auditOf(api.people, person.userName)).filter(
      ({ kind }) => kind === 'AddressRefused',
    )
    expect(refused.map(({ fields }) => fields['IpAddress'])).toEqual([found[3]])
  })

  it('is dropped a minute after the own address moves, unless it is seen again', async () => {
    const [own, two, three, elsewhere] = addresses(4) as [string, string, string, string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    const before = await person.nonce()
    const found = [
      { Port: 222, IP: two },
      { Port: 443, IP: three },
    ]
    for (const { Port, IP } of found) await api.lookUp(Port, IP, before)
    await person.post('/log_ips', { IPs: found })
    const moved = api.movedTo(person, elsewhere)
    const { Nonce } = await revalidated(moved)
    expect(await api.openFor(knoc)).toEqual([two, three, elsewhere].toSorted())
    expect(await moved.post('/log_ips', { IPs: [found[0]] })).toMatchObject(notSeen(two))
    await api.lookUp(222, two, Nonce)
    expect((await moved.post('/log_ips', { IPs: [found[0]] })).status).toBe(200)
    await api.db
      .updateTable('sessionAddresses')
      .set({ doubtedAt: new Date(Date.now() - 61_000) })
      .where('address', '=', three)
      .execute()
    await revalidated(moved)
    expect(await api.openFor(knoc)).toEqual([two, elsewhere].toSorted())
  })
})

describe('an address that was not proven opens nothing', () => {
  /** A person, an address that a port saw for somebody, and what it is told as. */
  async function attempt(
    prepare: (parts: {
      person: Awaited<ReturnType<DiscoveryApi['aPerson']>>
      nonce: string
      found: string
      sessionId: string
    }) => Promise<unknown>,
    told: { Port?: number; IP?: string } = {},
  ) {
    const [own, found] = addresses(2) as [string, string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    const { id: sessionId } = await api.db
      .selectFrom('sessions')
      .select('id')
      .where('userId', '=', person.id)
      .executeTakeFirstOrThrow()
    await prepare({ person, nonce: await person.nonce(), found, sessionId })
    const IP = told.IP ?? found
    const answer = await person.post('/log_ips', { IPs: [{ Port: told.Port ?? 222, IP }] })
    expect(await api.openFor(knoc)).toEqual([own])
    expect((await statusOf(person)).Addresses).toEqual([{ IP: own, Source: 'own' }])
    return { answer, IP }
  }

  it.each<[string, Parameters<typeof attempt>[0], { Port?: number; IP?: string }?]>([
    ['forged', async () => undefined],
    ['seen on another port', ({ nonce, found }) => api.lookUp(443, found, nonce)],
    ['told as the session’s own', ({ nonce, found }) => api.lookUp(222, found, nonce), { Port: 0 }],
    [
      'seen with another session’s nonce',
      async ({ found }) => api.lookUp(222, found, await (await api.aPerson(one())).nonce()),
    ],
    [
      'seen with a nonce of somebody else’s making',
      ({ nonce, found }) => api.lookUp(222, found, `${nonce.slice(0, -1)}${nonce.endsWith('A') ? 'B' : 'A'}`),
    ],
    [
      'seen with a nonce of more than 60 s ago',
      ({ found, sessionId }) =>
        api.lookUp(222, found, makeNonce(api.sealer, { sessionId, issuedAt: new Date(Date.now() - 62_000) })),
    ],
    [
      'seen with a nonce of the future',
      ({ found, sessionId }) =>
        api.lookUp(222, found, makeNonce(api.sealer, { sessionId, issuedAt: new Date(Date.now() + 20_000) })),
    ],
    [
      'seen with a nonce that the port was shown before',
      async ({ nonce, found }) => {
        await api.lookUp(222, one(), nonce)
        await api.lookUp(222, found, nonce)
      },
    ],
    [
      'seen more than 60 s ago',
      async ({ nonce, found }) => {
        await api.lookUp(222, found, nonce)
        await api.db
          .updateTable('addressSightings')
          .set({ seenAt: new Date(Date.now() - 61_000) })
          .where('address', '=', found)
          .execute()
      },
    ],
    [
      'seen through a proxy that nobody configured',
      ({ nonce, found }) => api.lookUp(222, found, nonce, { 'X-Forwarded-For': '203.0.113.5' }),
    ],
    [
      'only said by a client behind a trusted proxy',
      ({ nonce, found }) => api.lookUp(222, proxy, nonce, { 'X-Forwarded-For': `${found}, 192.0.2.1` }),
    ],
    ['loopback', ({ nonce }) => api.lookUp(222, '127.0.0.1', nonce), { IP: '127.0.0.1' }],
    ['unspecified', ({ nonce }) => api.lookUp(222, '0.0.0.0', nonce), { IP: '0.0.0.0' }],
    ['link-local', ({ nonce }) => api.lookUp(222, 'fe80::1%eth0', nonce), { IP: 'fe80::1' }],
    ['multicast', ({ nonce }) => api.lookUp(222, '224.0.0.1', nonce), { IP: '224.0.0.1' }],
    ['the server’s own', ({ nonce }) => api.lookUp(222, ownAddress, nonce), { IP: ownAddress }],
    ['a proxy’s', ({ nonce }) => api.lookUp(222, proxy, nonce), { IP: proxy }],
  ])('when it is %s', async (_, prepare, told) => {
    const { answer, IP } = await attempt(prepare, told)
    expect(answer).toMatchObject(notSeen(IP))
  })

  it('while discovery is off, whatever was seen', async () => {
    const { answer, IP } = await attempt(async ({ nonce, found }) => {
      await api.lookUp(222, found, nonce)
      await api.set({ DiscoverIP: false })
    })
    expect(answer).toMatchObject(notSeen(IP))
  })

  it('and refuses those that were proven with it', async () => {
    const [found] = addresses(1) as [string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(one(), [knoc])
    await api.lookUp(222, found, await person.nonce())
    const IPs = [
      { Port: 222, IP: found },
      { Port: 443, IP: '203.0.113.99' },
    ]
    expect(await person.post('/log_ips', { IPs })).toMatchObject(notSeen('203.0.113.99'))
    expect(await api.openFor(knoc)).not.toContain(found)
  })

  it('and lookups of one address have a limit, over all ports', async () => {
    const [busy, idle] = addresses(2) as [string, string]
    let asked = 0
    let refused = await api.lookUp(443, busy, '')
    while (refused.status === 200) refused = await api.lookUp([443, 222][(asked += 1) % 2] ?? 443, busy, '')
    expect(asked).toBeGreaterThan(1_400)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await api.lookUp(443, idle, '')).status).toBe(200)
  })

  it('and a flood of wrong nonces writes nothing', async () => {
    const person = await api.aPerson(one())
    const nonce = await person.nonce()
    const before = await api.sightings()
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        api.lookUp(443, '198.51.100.250', `x${i}${nonce.slice(String(i).length + 1)}`),
      ),
    )
    for (const wrong of ['', 'x', 'a'.repeat(5_000), nonce.toUpperCase(), `${nonce}.`, `${nonce}%0a`])
      await api.lookUp(443, '198.51.100.250', wrong)
    expect(await api.sightings()).toBe(before)
    await api.lookUp(443, '198.51.100.250', nonce)
    expect(await api.sightings()).toBe(before + 1)
  })
})

describe('who may tie addresses to a session', () => {
  const some = { IPs: [{ Port: 222, IP: '203.0.113.1' }] }

  it('nobody without a session, with an administrator’s, with half of one, or with one that ended', async () => {
    expect(await api.browser(one()).post('/log_ips', some)).toMatchObject({
      status: 401,
      body: { Err: 'err.invalidSession' },
    })
    const admin = await anAdmin(api.people)
    const console_ = api.browser(one())
    await console_.post('/admin/login', { UserName: admin.userName, Password: rightPassword })
    expect((await console_.post('/log_ips', some)).status).toBe(401)
    const half = await aUser(api.people, { totpEnabled: true })
    const halfway = api.browser(one())
    await halfway.post('/login', { UserName: half.userName, Password: rightPassword })
    expect((await halfway.post('/log_ips', some)).body.Err).toBe('err.totpEnrolmentRequired')
    const person = await api.aPerson(one())
    const nonce = await person.nonce()
    await person.post('/logout')
    expect((await person.post('/log_ips', some)).status).toBe(401)
    const before = await api.sightings()
    await api.lookUp(222, one(), nonce)
    expect(await api.sightings()).toBe(before)
  })

  it('nobody from where the session is not, though the lookup ports saw him there', async () => {
    const [own, thief] = addresses(2) as [string, string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    const elsewhere = api.movedTo(person, thief)
    await api.lookUp(222, thief, (await statusOf(elsewhere)).Nonce)
    expect(await elsewhere.post('/log_ips', { IPs: [{ Port: 222, IP: thief }] })).toMatchObject({
      status: 409,
      body: { Err: 'err.addressChanged', Extra: thief },
    })
    const proxied = await person.post('/log_ips', some, { Via: '1.1 proxy' })
    expect(proxied).toMatchObject({ status: 403, body: { Err: 'err.proxyNotTrusted' } })
    expect(await api.openFor(knoc)).toEqual([own])
  })

  it.each([
    ['nine addresses', { IPs: Array.from({ length: 9 }, () => some.IPs[0]) }, 422],
    ['a port beyond all ports', { IPs: [{ Port: 65_536, IP: '203.0.113.1' }] }, 422],
    ['half a port', { IPs: [{ Port: 2.5, IP: '203.0.113.1' }] }, 400],
    ['a name', { IPs: [{ Port: 443, IP: 'example.com' }] }, 422],
    ['a range', { IPs: [{ Port: 443, IP: '203.0.113.0/24' }] }, 422],
    ['no list', {}, 400],
    ['more than was asked for', { ...some, Force: true }, 400],
  ])('nobody with %s', async (_, body, status) => {
    const person = await api.aPerson(one())
    expect((await person.post('/log_ips', body)).status).toBe(status)
  })
})

describe('the portal’s own port', () => {
  it('answers /ip in plain text, for the portal’s pages only, and without cookies', async () => {
    const answer = await api.lookUpAt('knoc.example', '203.0.113.9', '')
    expect(await answer.text()).toBe('203.0.113.9')
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://knoc.example')
    expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull()
    expect(answer.headers.get('Set-Cookie')).toBeNull()
  })

  it('stands for the lookup port that the public URL has', async () => {
    const [own, two] = addresses(2) as [string, string]
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    await api.lookUpAt('knoc.example', two, await person.nonce())
    expect((await person.post('/log_ips', { IPs: [{ Port: 443, IP: two }] })).status).toBe(200)
    expect(await api.openFor(knoc)).toEqual([own, two].toSorted())
  })

  it('by a name of one family brings the session’s own address of that family', async () => {
    const own = one()
    const knoc = await api.aKnoc({ cgnatOpen: false })
    await api.db
      .insertInto('aclTargets')
      .values({ aclId: knoc.aclId, family: 6, targetId: knoc.targetId })
      .execute()
    const person = await api.aPerson(own, [knoc])
    const six = `2001:db8::${last.toString(16)}`
    await api.lookUpAt('V6.knoc.example:443', six, await person.nonce())
    const told = { IPs: [{ Port: 0, IP: six.toUpperCase() }] }
    expect((await person.post('/log_ips', told)).status).toBe(200)
    expect((await api.openFor(knoc)).toSorted()).toEqual([own, six].toSorted())
    expect((await statusOf(person)).Addresses.map(({ Source }: { Source: string }) => Source)).toEqual([
      'own',
      'own',
    ])
  })

  it('by a name of one family proves nothing of the other', async () => {
    const [own, two] = addresses(2) as [string, string]
    const person = await api.aPerson(own)
    await api.lookUpAt('v6.knoc.example', two, await person.nonce())
    expect(await person.post('/log_ips', { IPs: [{ Port: 0, IP: two }] })).toMatchObject(notSeen(two))
    expect(await person.post('/log_ips', { IPs: [{ Port: 443, IP: two }] })).toMatchObject(notSeen(two))
  })

  it('moves the own address as the portal’s look does, and as seldom', async () => {
    const seven = addresses(8)
    const person = await api.aPerson(seven[0] ?? '')
    const knoc = await api.aKnoc()
    await api.db.insertInto('userAcls').values({ userId: person.id, aclId: knoc.aclId }).execute()
    let at = api.movedTo(person, seven[0] ?? '')
    const answers: { status: number; body: unknown }[] = []
    for (const next of seven.slice(1)) {
      await api.lookUpAt('v4.knoc.example', next, (await statusOf(at)).Nonce)
      answers.push(await at.post('/log_ips', { IPs: [{ Port: 0, IP: next }] }))
      at = api.movedTo(person, next)
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 401])
    expect(answers.at(-1)?.body).toMatchObject({ Err: 'err.sessionExpired' })
    expect(await api.openFor(knoc)).toEqual([seven[6]])
  })
})

describe('the word of a foreign lookup service', () => {
  const claims = ['8.8.4.4', '8.8.8.8', '9.9.9.9', '1.1.1.1']
  const toIPs = (list: readonly string[]) =>
    list.map((IP, index) => ({ Port: [443, 222, 3389, 8000][index], IP }))
  beforeEach(() => api.set({ DiscoverIPURL: 'https://lookup.example' }))

  it('counts for nothing unless an administrator trusts it', async () => {
    const own = one()
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    expect(await person.post('/log_ips', { IPs: toIPs(['8.8.4.4']) })).toMatchObject(notSeen('8.8.4.4'))
    expect(await api.openFor(knoc)).toEqual([own])
  })

  it('is marked as claimed, and closed when it isn’t trusted any more', async () => {
    await api.set({ TrustDiscoveryClaims: true })
    const own = one()
    const knoc = await api.aKnoc()
    const person = await api.aPerson(own, [knoc])
    expect((await person.post('/log_ips', { IPs: toIPs(claims.slice(0, 2)) })).status).toBe(200)
    expect(await api.openFor(knoc)).toEqual([own, '8.8.4.4', '8.8.8.8'].toSorted())
    expect((await statusOf(person)).Addresses.at(-1).Source).toBe('claimed')
    const rows = await api.db.selectFrom('auditEvents').select(['kind', 'fields', 'detail']).execute()
    const told = rows.filter(
      ({ fields }) => (fields as Record<string, string>)['UserName'] === person.userName,
    )
    const marked = told.filter(({ detail }) => /"(reason|source)":"claimed"/.test(JSON.stringify(detail)))
    expect(marked.map(({ kind }) => kind).toSorted()).toEqual([
      ...['CreateGrant', 'CreateGrant'],
      ...['PortWalkGrant', 'PortWalkGrant'],
    ])
    await dropUntrustedClaims(api.db, { grants: api.grants })
    expect(await api.openFor(knoc)).toHaveLength(3)
    await api.set({ TrustDiscoveryClaims: false })
    await dropUntrustedClaims(api.db, { grants: api.grants })
    expect(await api.openFor(knoc)).toEqual([own])
    expect((await statusOf(person)).Addresses).toEqual([{ IP: own, Source: 'own' }])
  })

  it.each([
    '127.0.0.1',
    '10.1.1.1',
    '169.254.1.1',
    '224.0.0.1',
    '100.64.0.1',
    '240.0.0.1',
    '::1',
    'fd00::1',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
  ])('is never believed about %s, which is no host’s on the Internet', async (IP) => {
    await api.set({ TrustDiscoveryClaims: true })
    const person = await api.aPerson(one())
    expect(await person.post('/log_ips', { IPs: [{ Port: 443, IP }] })).toMatchObject({
      status: 409,
      body: { Err: 'err.addressNotGrantable', Extra: IP },
    })
  })

  it('is four addresses at most, on the ports that there are', async () => {
    await api.set({ TrustDiscoveryClaims: true })
    const person = await api.aPerson(one())
    const five = [...toIPs(claims), { Port: 443, IP: '4.4.4.4' }]
    expect(await person.post('/log_ips', { IPs: five })).toMatchObject({
      status: 422,
      body: { Err: 'err.invalidField', Extra: 'IPs' },
    })
    for (const Port of [0, 80])
      expect(await person.post('/log_ips', { IPs: [{ Port, IP: '8.8.4.4' }] })).toMatchObject(
        notSeen('8.8.4.4'),
      )
    expect((await statusOf(person)).Addresses).toHaveLength(1)
  })

  it('leaves no proof at our own port, so that the service can’t show a nonce there', async () => {
    const [own, service] = addresses(2) as [string, string]
    const person = await api.aPerson(own)
    const nonce = await person.nonce()
    await api.lookUpAt('knoc.example', service, nonce)
    expect(await person.post('/log_ips', { IPs: [{ Port: 443, IP: service }] })).toMatchObject(
      notSeen(service),
    )
  })
})

describe('what a click names', () => {
  it('counts for that one knoc', async () => {
    const [own, two] = addresses(2) as [string, string]
    const knoc = await api.aKnoc({ clickToGrant: true })
    const other = await api.aKnoc({ clickToGrant: true })
    const automatic = await api.aKnoc()
    const person = await api.aPerson(own, [knoc, other, automatic])
    await api.lookUp(3389, two, await person.nonce())
    const IPs = [
      { Port: 0, IP: own },
      { Port: 3389, IP: two },
    ]
    expect((await person.post('/grant', { ACLID: knoc.aclId, IPs })).status).toBe(200)
    expect(await api.openFor(knoc)).toEqual([own, two].toSorted())
    await person.post('/grant', { ACLID: other.aclId })
    expect(await api.openFor(other)).toEqual([own])
    expect(await api.openFor(automatic)).toEqual([own])
    await revalidated(person)
    expect(await api.openFor(knoc)).toEqual([own, two].toSorted())
    await person.post('/log_ips', { IPs: [IPs[1]] })
    expect(await api.openFor(other)).toEqual([own, two].toSorted())
    expect(await api.openFor(automatic)).toEqual([own, two].toSorted())
  })

  it('opens nothing beside the own address where the knoc isn’t open to CGNAT', async () => {
    const [own, two] = addresses(2) as [string, string]
    const knoc = await api.aKnoc({ clickToGrant: true, cgnatOpen: false })
    const person = await api.aPerson(own, [knoc])
    await api.lookUp(443, two, await person.nonce())
    const IPs = [{ Port: 443, IP: two }]
    expect((await person.post('/grant', { ACLID: knoc.aclId, IPs })).status).toBe(200)
    expect(await api.openFor(knoc)).toEqual([own])
    expect((await statusOf(person)).Addresses).toHaveLength(1)
  })

  it('opens nothing at all when one of them was not seen', async () => {
    const [own, two] = addresses(2) as [string, string]
    const knoc = await api.aKnoc({ clickToGrant: true })
    const person = await api.aPerson(own, [knoc])
    await api.lookUp(443, two, await person.nonce())
    const click = (IPs: unknown[]) => person.post('/grant', { ACLID: knoc.aclId, IPs })
    expect(
      await click([
        { Port: 443, IP: two },
        { Port: 222, IP: '203.0.113.77' },
      ]),
    ).toMatchObject(notSeen('203.0.113.77'))
    expect(await click([{ Port: 0, IP: two }])).toMatchObject({
      status: 409,
      body: { Err: 'err.addressChanged', Extra: two },
    })
    await api.set({ DiscoverIP: false })
    expect(await click([{ Port: 443, IP: two }])).toMatchObject(notSeen(two))
    expect(await api.openFor(knoc)).toEqual([])
  })

  it('is dropped a minute after the own address moves', async () => {
    const [own, two, elsewhere] = addresses(3) as [string, string, string]
    const knoc = await api.aKnoc({ clickToGrant: true })
    const person = await api.aPerson(own, [knoc])
    await api.lookUp(443, two, await person.nonce())
    await person.post('/grant', { ACLID: knoc.aclId, IPs: [{ Port: 443, IP: two }] })
    const moved = api.movedTo(person, elsewhere)
    await revalidated(moved)
    expect(await api.openFor(knoc)).toEqual([two, elsewhere].toSorted())
    await api.db
      .updateTable('sessionAddresses')
      .set({ doubtedAt: new Date(Date.now() - 61_000) })
      .where('address', '=', two)
      .execute()
    await dropDoubtedAddresses(api.db, { grants: api.grants })
    expect(await api.openFor(knoc)).toEqual([elsewhere])
  })

  it('by a foreign service’s word counts only while it is trusted', async () => {
    await api.set({ DiscoverIPURL: 'https://lookup.example' })
    const own = one()
    const knoc = await api.aKnoc({ clickToGrant: true })
    const person = await api.aPerson(own, [knoc])
    const click = () => person.post('/grant', { ACLID: knoc.aclId, IPs: [{ Port: 8000, IP: '8.8.8.8' }] })
    expect(await click()).toMatchObject(notSeen('8.8.8.8'))
    await api.set({ TrustDiscoveryClaims: true })
    expect((await click()).status).toBe(200)
    expect(await api.openFor(knoc)).toEqual([own, '8.8.8.8'].toSorted())
  })
})

describe('what browsers are told', () => {
  const system = async () => (await api.browser(one()).get('/system_status')).body.data
  const families = {
    IPv4Origin: 'https://v4.knoc.example',
    IPv6Origin: 'https://v6.knoc.example',
  }
  const policy = async () =>
    /connect-src ([^;]*)/.exec((await api.app.request('/')).headers.get('Content-Security-Policy') ?? '')?.[1]

  it('is no lookup service while discovery is off', async () => {
    await api.set({ DiscoverIP: false })
    expect(await system()).toMatchObject({ IPApi: '', LookupPorts: [], ...families })
    expect(await policy()).toBe("'self' https://v4.knoc.example https://v6.knoc.example")
  })

  it('is what listens: in https without a certificate that is the portal’s own port alone', async () => {
    expect(await system()).toMatchObject({
      IPApi: 'https://knoc.example',
      LookupPorts: [{ Port: 443, At: 443 }],
      ...families,
    })
    expect(await policy()).toContain('https://knoc.example:443')
    const admin = await anAdmin(api.people)
    const console_ = api.browser(one())
    await console_.post('/admin/login', { UserName: admin.userName, Password: rightPassword })
    expect((await console_.get('/admin/status')).body.data.Warnings).toContainEqual({
      Code: 'lookupCertificate',
      Extra: 'https://knoc.example',
    })
  })

  it('is the foreign service where one is named, with the four ports', async () => {
    await api.set({ DiscoverIPURL: 'https://lookup.example' })
    expect(await system()).toMatchObject({
      IPApi: 'https://lookup.example',
      LookupPorts: [443, 222, 3389, 8000].map((port) => ({ Port: port, At: port })),
    })
    expect(await policy()).toContain(
      'https://lookup.example:443 https://lookup.example:222 https://lookup.example:3389 https://lookup.example:8000',
    )
  })

  it('has a new nonce each time, which tells nothing of the cookie', async () => {
    const person = await api.aPerson(one())
    const [first, second] = [await person.nonce(), await person.nonce()]
    expect(first).not.toBe(second)
    for (const value of person.jar.values()) expect(first).not.toContain(value)
  })
})
