import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { DB } from '#server/platform/database.types.ts'
import { newToken } from '#server/platform/random.ts'

/** A user who may do nothing yet. */
export async function aUser(db: Kysely<DB>, userName = `user-${newToken().slice(0, 8)}`): Promise<string> {
  const row = await db
    .insertInto('users')
    .values({ name: userName, userName, authType: 'local' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** A licence that holds for a year. */
export async function aLicence(db: Kysely<DB>): Promise<void> {
  await sql`
    insert into licences (licence_id, licence_key, user_limit, expires_at)
    values (${randomUUID()}, 'test', 10000, now() + interval '1 year')`.execute(db)
}

/** An agent that was never connected. */
export async function anAgent(db: Kysely<DB>, name = `agent-${newToken().slice(0, 8)}`): Promise<string> {
  const row = await db.insertInto('agents').values({ name }).returning('id').executeTakeFirstOrThrow()
  return row.id
}

/**
 * A knoc on ipsets of an agent, without the API: backend, ACL, and its targets, shared with other knocs that name
 * the same set.
 */
export async function aKnoc(
  db: Kysely<DB>,
  {
    agentId,
    set4 = `s4_${newToken().slice(0, 8)}`,
    set6 = null,
    ...fields
  }: {
    agentId: string
    set4?: string
    set6?: string | null
    description?: string
    clickToGrant?: boolean
    maximumGrantSeconds?: number | null
    silenceSeconds?: number | null
  },
): Promise<{ aclId: string; targetId: string; targets: string[] }> {
  const backend = await db
    .insertInto('backends')
    .values({ name: 'test', agentId, type: 'ipset' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const acl = await db
    .insertInto('acls')
    .values({ description: `knoc ${set4}`, backendId: backend.id, clickToGrant: true, ...fields })
    .returning('id')
    .executeTakeFirstOrThrow()
  const targets: string[] = []
  for (const [family, name] of [
    [4, set4],
    [6, set6],
  ] as const) {
    if (name === null) continue
    const { rows } = await sql<{ id: string }>`
      insert into targets (key, agent_id, backend_id, type, family, expiry, list_config)
      values (${`ipset:${agentId}:${name}`}, ${agentId}, ${backend.id}, 'ipset', ${family}, 'native',
        ${JSON.stringify({ SetName: name })}::jsonb)
      on conflict (key) where state = 'active' do update set key = excluded.key returning id`.execute(db)
    const targetId = rows[0]?.id ?? ''
    targets.push(targetId)
    await db.insertInto('aclTargets').values({ aclId: acl.id, family, targetId }).execute()
  }
  return { aclId: acl.id, targetId: targets[0] ?? '', targets }
}

/** Lets a user have a knoc. */
export async function entitle(db: Kysely<DB>, userId: string, aclId: string): Promise<void> {
  await db.insertInto('userAcls').values({ userId, aclId }).execute()
}

/** A session that holds one address, as after a sign-in from there. */
export async function aSession(
  db: Kysely<DB>,
  { userId, address, minutes = 60 }: { userId: string; address: string; minutes?: number },
): Promise<{ id: string; userId: string; userName: string }> {
  const { rows } = await sql<{ id: string }>`
    insert into sessions (user_id, token_hash, ip_address, ends_at)
    values (${userId}, ${newToken()}, ${address}::inet, now() + make_interval(secs => ${minutes * 60}))
    returning id`.execute(db)
  const id = rows[0]?.id ?? ''
  await sql`
    insert into session_addresses (session_id, address, source) values (${id}, ${address}::inet, 'own')`.execute(
    db,
  )
  const { userName } = await db
    .selectFrom('users')
    .select('userName')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  return { id, userId, userName }
}
