import { type Kysely, sql } from 'kysely'
import type { EntryKey } from '../entries/entry-key.ts'
import type { DB } from '../platform/database.types.ts'

/** A grant as it was made or ended here, with what the audit log tells of it. */
export type GrantChange = {
  id: string
  aclId: string
  address: string
  description: string
  reason: string
  /** How the address came to the session; `specified` is the knoc's own. */
  source: string
}

/** What is wanted: one knoc by a click, or only that these knocs go on, or (both null) all that is due. */
type Wanted = { clicked: string | null; goingOn: readonly string[] | null }

/** The same with the lists that hold the address. */
type StandingChange = GrantChange & { targetIds: string[] }

/** What is told of a grant `g` and its ACL `a`. */
const changeColumns = sql`g.id, g.acl_id, host(g.address) as address, a.description, g.reason, g.source, array(
  select t.target_id from acl_targets t where t.acl_id = g.acl_id and t.family = family(g.address)) as target_ids`

/**
 * Brings a session's grants in line with its addresses: ends those for addresses it left, makes those that are
 * due for the ones it holds.
 *
 * Due are: every visible entry that isn't click-to-grant, what a click opened before and has not been given up
 * since, and `clicked`. An entry that was revoked, or whose grant reached its own end, isn't granted again in
 * that session without a click. A new address keeps the end of the grant it follows, so that moving never
 * prolongs access (specification README "What grants", "A session that lives on"). With `goingOn` nothing else is
 * due than what these knocs opened before.
 *
 * A licence that has ended gives no new grants, but what is open runs to its own end, wherever its user moves; one
 * that was removed ends that too (decision 34).
 *
 * Runs in a granting transaction: subjects are locked, entries come after.
 */
export async function standGrants(
  tx: Kysely<DB>,
  { sessionId, clicked = null, goingOn = null }: { sessionId: string } & Partial<Wanted>,
): Promise<{ made: GrantChange[]; ended: GrantChange[]; keys: EntryKey[] }> {
  const ended = await endLeft(tx, sessionId)
  const made = await makeDue(tx, sessionId, { clicked, goingOn })
  const keys = [...ended, ...made].flatMap(({ targetIds, address }) =>
    targetIds.map((targetId) => ({ targetId, address })),
  )
  return { made, ended, keys }
}

/** Knocs of the session that a granting transaction has to lock: all it may be granted, or just the clicked one. */
export async function listGrantableAcls(tx: Kysely<DB>, sessionId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select a.id from sessions s join acls a on a.deleted_at is null and a.parent_id is null
    where s.id = ${sessionId} and (
      a.id in (select acl_id from user_acls where user_id = s.user_id)
      or a.id in (
        select ga.acl_id from group_members m join groups gr on gr.id = m.group_id and gr.deleted_at is null
        join group_acls ga on ga.group_id = m.group_id where m.user_id = s.user_id))
    order by a.id`.execute(tx)
  return rows.map((row) => row.id)
}

/** Whether the session has anything that `standGrants` would make or end: the poll's cheap question. */
export async function hasDueGrants(db: Kysely<DB>, sessionId: string): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    with ${dueGrants(sessionId, { clicked: null, goingOn: null })}
    select exists (select from due) or exists (${leftGrants(sessionId)}) as due`.execute(db)
  return rows[0]?.due ?? false
}

/** Addresses the session holds, and what the restriction is asked about for fixed ones: its newest own address. */
const addressesOf = (sessionId: string) => sql`
  held as (
    select address, source, acl_ids, last_seen_at from session_addresses
    where session_id = ${sessionId}::uuid and left_at is null),
  client as (
    select address from held where source = 'own' order by last_seen_at desc, address limit 1)`

/** Standing grants that no held address carries any more, or none that counts for their knoc. */
const leftGrants = (sessionId: string) => sql`
  select g.id from grants g
  where g.session_id = ${sessionId}::uuid and g.ended_at is null and not exists (
    select from session_addresses h where h.session_id = g.session_id and h.left_at is null
      and h.address = g.client_address and (h.acl_ids is null or g.acl_id = any (h.acl_ids)))`

/** Rows to insert: one for each due entry and address that has a list for its family. */
const dueGrants = (sessionId: string, { clicked, goingOn }: Wanted) => sql`
  ${addressesOf(sessionId)},
  due as (
    select s.id as session_id, s.user_id, a.id as acl_id, d.address, d.client_address, d.source,
      case when a.click_to_grant then 'click' else 'automatic' end as reason, e.ends_at
    from sessions s
    join users u on u.id = s.user_id and u.deleted_at is null and u.login_enabled and u.licensed
      and (u.valid_until is null or u.valid_until > statement_timestamp())
    join acls a on a.deleted_at is null and a.parent_id is null and is_entitled(s.user_id, a.id)
    left join lateral (
      select g.ended_at, g.ended_reason, g.ends_at from grants g
      where g.session_id = s.id and g.acl_id = a.id
      order by (g.ended_at is null) desc, g.created_at desc, g.id limit 1) last on true
    cross join lateral (
      select
        last.ends_at is not null and (last.ended_at is null or last.ended_reason not in ('revoked', 'expired', 'failed'))
          as goes_on,
        last.ends_at is not null and last.ended_reason in ('revoked', 'expired', 'failed') as given_up) l
    cross join lateral (
      select case when l.goes_on and ${clicked}::uuid is distinct from a.id or last.ends_at is not null and last.ended_at is null
        then last.ends_at
        else least(s.ends_at, u.valid_until,
          statement_timestamp() + make_interval(secs => a.maximum_grant_seconds)) end as ends_at) e
    cross join lateral (
      select h.address, h.address as client_address, h.source from held h
      where a.grant_type = 'userIp' and (h.source = 'own' or a.cgnat_open)
        and (h.acl_ids is null or a.id = any (h.acl_ids))
      union all
      select fixed.address, c.address, 'specified' from client c
      cross join unnest(a.specified_ips) as fixed (address)
      where a.grant_type = 'specifiedIps') d
    where s.id = ${sessionId}::uuid and s.ended_at is null and s.stage = 'complete'
      and s.ends_at > statement_timestamp() and e.ends_at > statement_timestamp()
      and (a.id = ${clicked}::uuid
        or ${clicked}::uuid is null and (l.goes_on or not a.click_to_grant and not l.given_up))
      and (${goingOn}::uuid[] is null or l.goes_on and a.id = any (${goingOn}::uuid[]))
      and address_allowed(a, d.client_address)
      and exists (select from acl_targets t where t.acl_id = a.id and t.family = family(d.address))
      and exists (select from licences where removed_at is null and (ended_at is null or l.goes_on))
      and not exists (
        select from grants g where g.session_id = s.id and g.acl_id = a.id and g.address = d.address
          and g.ended_at is null))`

async function endLeft(tx: Kysely<DB>, sessionId: string): Promise<StandingChange[]> {
  const { rows } = await sql<StandingChange>`
    update grants g set ended_at = statement_timestamp(), ended_reason = 'addressChanged'
    from acls a where a.id = g.acl_id and g.id in (${leftGrants(sessionId)})
    returning ${changeColumns}`.execute(tx)
  return rows
}

async function makeDue(tx: Kysely<DB>, sessionId: string, wanted: Wanted): Promise<StandingChange[]> {
  const { rows } = await sql<StandingChange>`
    with ${dueGrants(sessionId, wanted)},
    made as (
      insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
      select session_id, user_id, acl_id, address, client_address, source, reason, ends_at from due
      on conflict (session_id, acl_id, address) where ended_at is null do nothing
      returning id, acl_id, address, reason, source)
    select ${changeColumns} from made g join acls a on a.id = g.acl_id`.execute(tx)
  return rows
}
