import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { counts, type LicenceStanding, type RightFacts } from '#machines/liveness.ts'
import { randomFrom } from '#machines/testing/world.ts'
import { aKnoc, aLicence, anAgent, aSession, aUser, entitle } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'

/** Drawn anew with another seed; the same for everybody otherwise. */
const seed = 5
const grantCount = 250
const hour = 3_600_000

let database: TestDatabase
let db: TestDatabase['db']
beforeAll(async () => {
  database = await testDatabase({ max: 8 })
  db = database.db
  await aLicence(db)
})
afterAll(() => database.drop())

type Flaw = 'disabled' | 'unlicensed' | 'deleted' | undefined
type Drawn = { flaw: Flaw; facts: Omit<RightFacts, 'licence'> }

const own = '10.8.0.1'
const fixedOnes = ['192.0.2.1', '192.0.2.2']

/** Everything a grant's right hangs on, at random and most of it in its favour. */
function drawFacts(random: () => number, now: number): Drawn {
  const chance = (share: number) => random() < share
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const fixed = chance(0.4) ? fixedOnes.filter(() => chance(0.6)) : null
  const source = pick(['own', 'own', 'specified', 'discovered', 'claimed'] as const)
  const flaw = chance(0.2) ? pick(['disabled', 'unlicensed', 'deleted'] as const) : undefined
  const facts = {
    source,
    address: source === 'specified' ? pick(fixedOnes) : own,
    endsAt: now + (chance(0.9) ? hour : -hour),
    sessionEndsAt: now + (chance(0.9) ? hour : -hour),
    validUntil: pick([null, null, now + hour, now - hour]),
    personCounts: flaw === undefined,
    isEntitled: chance(0.9),
    isKnocDeleted: chance(0.1),
    isAllowed: chance(0.85),
    knoc: { fixed, cgnatOpen: chance(0.6) },
  }
  return { flaw, facts }
}

/** The same in the tables; the grant's id. */
async function record({ flaw, facts }: Drawn, agentId: string): Promise<string> {
  const [userId, { aclId }] = await Promise.all([aUser(db), aKnoc(db, { agentId })])
  const session = await aSession(db, { userId, address: own })
  const { fixed, cgnatOpen } = facts.knoc
  await sql`
    update users set login_enabled = ${flaw !== 'disabled'}, licensed = ${flaw !== 'unlicensed'},
      deleted_at = ${flaw === 'deleted' ? new Date() : null}, valid_until = ${toDate(facts.validUntil)}
    where id = ${userId}`.execute(db)
  await sql`update sessions set ends_at = ${toDate(facts.sessionEndsAt)} where id = ${session.id}`.execute(db)
  await sql`
    update acls set deleted_at = ${facts.isKnocDeleted ? new Date() : null}, cgnat_open = ${cgnatOpen},
      grant_type = ${fixed === null ? 'userIp' : 'specifiedIps'}, specified_ips = ${fixed ?? fixedOnes}::inet[],
      restriction_type = 'RFC1918', rfc_type = ${facts.isAllowed ? 'allow' : 'deny'}
    where id = ${aclId}`.execute(db)
  if (facts.isEntitled) await entitle(db, userId, aclId)
  const { rows } = await sql<{ id: string }>`
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    values (${session.id}, ${userId}, ${aclId}, ${facts.address}, ${own}, ${facts.source}, 'click',
      ${toDate(facts.endsAt)})
    returning id`.execute(db)
  return rows[0]?.id ?? ''
}

const toDate = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))

/** What the view says at this moment. */
async function readLive(): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select id from live_grants`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

const licences: [LicenceStanding, string][] = [
  ['inForce', 'update licences set ended_at = null, removed_at = null'],
  ['ended', 'update licences set ended_at = now()'],
  ['removed', 'update licences set removed_at = now()'],
]

it(`says of ${grantCount} grants what the rule says, whatever the licence (seed ${seed})`, async () => {
  const random = randomFrom(seed)
  const agentId = await anAgent(db)
  const now = Date.now()
  const drawn = await Promise.all(
    Array.from({ length: grantCount }, () => drawFacts(random, now)).map(async (one) => ({
      ...one,
      grantId: await record(one, agentId),
    })),
  )
  for (const [licence, statement] of licences) {
    await sql.raw(statement).execute(db)
    const live = await readLive()
    const wrong = drawn.filter(
      ({ grantId, facts }) => live.has(grantId) !== counts({ ...facts, licence }, now),
    )
    expect(wrong).toEqual([])
    if (licence !== 'removed') {
      expect(live.size).toBeGreaterThan(grantCount / 20)
      expect(live.size).toBeLessThan(grantCount / 2)
    }
  }
})
