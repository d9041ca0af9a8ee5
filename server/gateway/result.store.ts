import { type Kysely, sql } from 'kysely'
import type { OrderResult } from '#machines/protocol.ts'
import type { AuditEvent, AuditKind } from '../audit/audit.events.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { toLockOrder } from '../entries/entry-key.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'

/** Longest wait before a failed order is given again, in seconds. A close is retried for ever. */
const longestRetrySeconds = 60

/** How long after its end a grant's session is still told about its entry. */
const endedGrantSeconds = 60

/**
 * Writes down how orders ended, for results that came over the link that holds the agent: answers of an older
 * link epoch change nothing (decision 19), nor do results of orders that are no longer the newest.
 *
 * Entries are locked in the same order as everywhere; nothing else is locked.
 *
 * @returns the sessions to tell, and how long each door took that changed.
 */
export async function applyResults(
  db: Kysely<DB>,
  link: { agentId: string; linkEpoch: number },
  results: readonly OrderResult[],
): Promise<{ sessionIds: string[]; settled: SettledDoor[] }> {
  const newest = newestOnly(results)
  return inTransaction(db, async (tx) => {
    const changed = await updateEntries(tx, link, newest)
    await writeAudit(tx, changed.flatMap(toAudit))
    return { sessionIds: await listSessions(tx, changed), settled: changed.flatMap(toSettled) }
  })
}

/** A door that was seen open or closed, and how long after that was first ordered. */
export type SettledDoor = { act: 'grant' | 'revoke'; seconds: number }

/** Of several results for one entry in a batch the youngest generation counts; in the order of locks. */
function newestOnly(results: readonly OrderResult[]): OrderResult[] {
  const byKey = new Map<string, OrderResult>()
  for (const result of results) {
    const key = `${result.targetId}|${result.address}`
    const known = byKey.get(key)
    if (known === undefined || known.generation <= result.generation) byKey.set(key, result)
  }
  const values = [...byKey.values()]
  return toLockOrder(values).flatMap(
    (key) => values.find((value) => value.targetId === key.targetId && value.address === key.address) ?? [],
  )
}

type ChangedEntry = {
  targetId: string
  address: string
  desired: 'open' | 'closed'
  outcome: OrderResult['outcome']
  errorText: string | null
  userName: string
  agentName: string
  generation: number
  attempts: number
  /** What had been seen before: an extension that is verified is no news. */
  before: 'open' | 'closed' | null
  wantedSeconds: number
  descriptions: string | null
}

async function updateEntries(
  tx: Kysely<DB>,
  link: { agentId: string; linkEpoch: number },
  results: readonly OrderResult[],
): Promise<ChangedEntry[]> {
  const { rows } = await sql<ChangedEntry>`
    with locked as materialized (
      select e.id, e.applied_desired as before, r.outcome, r.at, r.error_code, r.error_text, a.name as agent_name
      from unnest(
        ${results.map((row) => row.targetId)}::uuid[],
        ${results.map((row) => row.address)}::inet[],
        ${results.map((row) => row.generation)}::bigint[],
        ${results.map((row) => row.outcome)}::text[],
        ${results.map((row) => new Date(row.atMs).toISOString())}::timestamptz[],
        ${results.map((row) => row.error?.code ?? null)}::text[],
        ${results.map((row) => row.error?.text ?? null)}::text[]
      ) with ordinality as r (target_id, address, generation, outcome, at, error_code, error_text, position)
      join agents a on a.id = ${link.agentId} and a.link_epoch = ${link.linkEpoch}
      join targets t on t.id = r.target_id and t.agent_id = a.id
      join entries e on e.target_id = r.target_id and e.address = r.address and e.generation = r.generation
      order by r.position
      for update of e
    )
    update entries e set
      applied_generation = case when l.outcome = 'failed' then e.applied_generation else e.generation end,
      applied_desired = case when l.outcome = 'failed' then e.applied_desired else e.desired end,
      failed_generation = case when l.outcome = 'failed' then e.generation end,
      outcome = l.outcome,
      seen_at = case when l.outcome = 'failed' then e.seen_at else least(l.at, clock_timestamp()) end,
      held_until = case when l.outcome = 'failed' then e.held_until when e.desired = 'open' then e.ordered_until end,
      held_since = case when l.outcome = 'failed' or e.desired = 'open' then e.held_since end,
      error_code = l.error_code, error_text = l.error_text,
      attempts = case when l.outcome = 'failed' then e.attempts + 1 else 0 end,
      retry_at = case when l.outcome = 'failed'
        then clock_timestamp() + make_interval(secs => least(power(2, least(e.attempts, 10)), ${longestRetrySeconds}))
        else e.retry_at end
    from locked l
    where e.id = l.id
    returning e.target_id, host(e.address) as address, e.desired, e.outcome, e.error_text, e.user_name, e.generation,
      e.attempts, l.before, l.agent_name,
      extract(epoch from clock_timestamp() - e.wanted_at)::float8 as wanted_seconds,
      (select string_agg(distinct a.description, ', ') from acl_targets at join acls a on a.id = at.acl_id
        where at.target_id = e.target_id) as descriptions`.execute(tx)
  return rows
}

/** The first failure of an order and each change of what stands are facts; repeats and extensions are not. */
function toAudit(row: ChangedEntry): AuditEvent[] {
  const kind = kindOf(row)
  if (kind === null) return []
  return [
    {
      kind,
      fields: {
        UserName: row.userName,
        AgentName: row.agentName,
        IpAddress: row.address,
        ...(row.descriptions === null ? {} : { AclDescription: row.descriptions }),
        ...(row.errorText === null ? {} : { ErrorMessage: row.errorText }),
      },
      detail: { targetId: row.targetId, generation: row.generation, outcome: row.outcome },
    },
  ]
}

const toSettled = (row: ChangedEntry): SettledDoor[] =>
  row.outcome === 'failed' || row.before === row.desired
    ? []
    : [{ act: row.desired === 'open' ? 'grant' : 'revoke', seconds: row.wantedSeconds }]

function kindOf({ outcome, desired, attempts, before }: ChangedEntry): AuditKind | null {
  if (outcome === 'failed') return attempts > 1 ? null : desired === 'open' ? 'GrantFailed' : 'RevokeFailed'
  if (before === desired) return null
  return desired === 'open' ? 'GrantVerified' : 'RevokeVerified'
}

/** Sessions whose grants hold or lately held these entries. */
async function listSessions(
  tx: Kysely<DB>,
  entries: readonly { targetId: string; address: string }[],
): Promise<string[]> {
  if (entries.length === 0) return []
  const { rows } = await sql<{ sessionId: string }>`
    select distinct g.session_id
    from unnest(
      ${entries.map((row) => row.targetId)}::uuid[], ${entries.map((row) => row.address)}::inet[]
    ) as k (target_id, address)
    join acl_targets t on t.target_id = k.target_id and t.family = family(k.address)
    cross join lateral (
      (select session_id from grants where acl_id = t.acl_id and address = k.address and ended_at is null
        order by ends_at desc limit 200)
      union all
      (select session_id from grants where acl_id = t.acl_id and address = k.address
        and ended_at > clock_timestamp() - make_interval(secs => ${endedGrantSeconds}) limit 200)
    ) g`.execute(tx)
  return rows.map((row) => row.sessionId)
}
