import { type Kysely, sql } from 'kysely'
import { linkLimits, type ServerFrame } from '#machines/protocol.ts'
import { readList } from '#server/allowlists/allowlist.query.ts'
import { noteReading } from '#server/allowlists/allowlist.store.ts'
import { type OrderRef, settleEntries } from '#server/entries/settle-entries.ts'
import { inTransaction } from '#server/platform/database.ts'
import type { DB } from '#server/platform/database.types.ts'
import { newToken } from '#server/platform/random.ts'
import { aSession, aUser, entitle } from './builders.ts'
import { aHello, aQuietGateway } from './quiet-gateway.ts'

let opened = 0

/** A passive list and a child that has a firewall of an agent fetch it, without the API; nobody has it yet. */
export async function aToldList(db: Kysely<DB>, { agentId }: { agentId: string }) {
  const parent = await anAclWithList(db, { type: 'allowlist', agentId: null, parentId: null })
  const child = await anAclWithList(db, { type: 'panos', agentId, parentId: parent.aclId })
  const { aclId, targetId: listId } = parent

  /** Somebody gets in; `settle` is left to the caller with `settled: false`. */
  async function open({ seconds = 3_600 } = {}) {
    opened += 1
    const address = `10.8.${opened >> 8}.${opened & 255}`
    const userId = await aUser(db)
    await entitle(db, userId, aclId)
    const session = await aSession(db, { userId, address })
    await sql`
      insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
      values (${session.id}, ${userId}, ${aclId}, ${address}::inet, ${address}::inet, 'own', 'click',
        clock_timestamp() + make_interval(secs => ${seconds}))`.execute(db)
    const settle = () => inTransaction(db, (tx) => settleEntries(tx, [{ targetId: listId, address }]))
    const close = async (): Promise<OrderRef[]> => {
      await sql`update grants set ended_at = now(), ended_reason = 'revoked' where session_id = ${session.id}`.execute(
        db,
      )
      return settle()
    }
    const reopen = async (): Promise<OrderRef[]> => {
      await sql`update grants set ended_at = null, ended_reason = null where session_id = ${session.id}`.execute(
        db,
      )
      return settle()
    }
    return { address, session, settle, close, reopen }
  }

  return {
    aclId,
    childId: child.aclId,
    listId,
    targetId: child.targetId,
    open,
    /** The same, ordered and committed without a word to any gateway. */
    opened: async (how: { seconds?: number } = {}) => {
      const door = await open(how)
      return { ...door, orders: await door.settle() }
    },
    /** The firewall has fetched it. */
    read: async () => {
      const reading = await readList(db, { id: aclId, isDeleted: false }, 'firewall')
      await noteReading(db, {
        ...{ aclId, consumer: 'firewall', tag: newToken(), at: reading.at, unread: reading.unread },
        ...{ useKey: async () => undefined, audit: [], requestId: null },
      })
      return reading.entries.map(({ address }) => address)
    },
    newest: async () => {
      const { rows } = await sql<{ newest: number }>`
        select coalesce(max(generation), 0) as newest from entries where target_id = ${listId}`.execute(db)
      return rows[0]?.newest ?? 0
    },
    row: () => findRefresh(db, child.targetId),
  }
}

/** What stands in the table of a firewall's list. */
export const findRefresh = (db: Kysely<DB>, targetId: string) =>
  db.selectFrom('listRefreshes').selectAll().where('targetId', '=', targetId).executeTakeFirst()

/** Another target in the place of one, as a changed setting makes it. */
export async function replaceTarget(db: Kysely<DB>, aclId: string, targetId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with old as (update targets set state = 'draining' where id = ${targetId} returning *)
    insert into targets (key, agent_id, backend_id, type, expiry, backend_config)
    select key || ':again', agent_id, backend_id, type, expiry, backend_config from old returning id`.execute(
    db,
  )
  const id = rows[0]?.id ?? ''
  await db.updateTable('aclTargets').set({ targetId: id }).where('aclId', '=', aclId).execute()
  return id
}

async function anAclWithList(
  db: Kysely<DB>,
  { type, agentId, parentId }: { type: string; agentId: string | null; parentId: string | null },
): Promise<{ aclId: string; targetId: string }> {
  const backend = await db
    .insertInto('backends')
    .values({ name: type, agentId, type })
    .returning('id')
    .executeTakeFirstOrThrow()
  const acl = await db
    .insertInto('acls')
    .values({
      description: `list ${newToken().slice(0, 8)}`,
      backendId: backend.id,
      parentId,
      clickToGrant: true,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const target = await db
    .insertInto('targets')
    .values({
      key: parentId === null ? `allowlist:${acl.id}` : `panos:${acl.id}`,
      agentId,
      backendId: backend.id,
      type,
      expiry: agentId === null ? 'native' : 'agent',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const family of [4, 6])
    await db.insertInto('aclTargets').values({ aclId: acl.id, family, targetId: target.id }).execute()
  return { aclId: acl.id, targetId: target.id }
}

const toEmptyDigest = ({ request, targetId }: Frame<'digestRequest'>) => ({
  ...{ type: 'digest', request, targetId },
  buckets: Array.from({ length: linkLimits.digestBuckets }, () => '0'.repeat(16)),
})

type Frame<Type extends ServerFrame['type']> = Extract<ServerFrame, { type: Type }>
export type RefreshFrame = Frame<'refresh'>

/** A replica's gateway whose duties a test runs. */
export function aReplicaOf(db: Kysely<DB>, over: Parameters<typeof aQuietGateway>[1] = {}) {
  const gateway = aQuietGateway(db, over)
  const run = async (name: 'table' | 'digests') => {
    await gateway.duties.find((duty) => duty.name === name)?.run()
  }
  return { ...gateway, run }
}

/** An agent's end of a link to a replica, which says what a test makes it say; it has said hello. */
export async function anAgentOn(
  gateway: ReturnType<typeof aReplicaOf>,
  agentId: string,
  {
    max = 3,
    onRefresh = () => undefined,
  }: {
    max?: number
    onRefresh?: (frame: RefreshFrame, answer: (error?: { code: string; text: string }) => void) => void
  } = {},
) {
  const frames: ServerFrame[] = []
  const closed: number[] = []
  const link = gateway.accept(
    { agentId, externalIp: '192.0.2.1' },
    {
      send: (text) => take(JSON.parse(text) as ServerFrame),
      close: (code) => void closed.push(code),
      terminate: () => undefined,
      bufferedAmount: 0,
    },
  )
  const say = (frame: object) => link.receive(JSON.stringify(frame))
  const answer = (
    { targetId, generation }: Pick<RefreshFrame, 'targetId' | 'generation'>,
    error: { code: string; text: string } | null = null,
  ) => say({ type: 'refreshed', targetId, generation, atMs: Date.now(), error })
  function take(frame: ServerFrame): void {
    frames.push(frame)
    if (frame.type === 'refresh') onRefresh(frame, (error) => answer(frame, error ?? null))
    if (frame.type === 'digestRequest') setImmediate(() => say(toEmptyDigest(frame)))
  }
  say(aHello({ protocol: { min: 1, max } }))
  for (let tries = 0; tries < 500 && !frames.some(({ type }) => type === 'welcome'); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))

  return {
    frames,
    closed,
    answer,
    refreshes: () => frames.filter((frame): frame is RefreshFrame => frame.type === 'refresh'),
    drop: () => gateway.release(link),
  }
}
