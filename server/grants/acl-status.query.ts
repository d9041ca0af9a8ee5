import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** One entry (address on target) as the status needs it. */
type EntryRow = {
  desired: 'open' | 'closed'
  generation: number
  appliedGeneration: number
  appliedDesired: 'open' | 'closed' | null
  failedGeneration: number | null
  outcome: 'verified' | 'reported' | 'failed' | null
  /** Tries of the newest order and those before it that failed, since something else was wanted. */
  attempts: number
  /** When it was last seen to be as ordered: by its own order's look, or by the agent's last one at the whole list. */
  seenAt: string | null
}

/** One knoc of a session with everything its status hangs on. */
export type AclStatusRow = {
  id: string
  description: string
  url: string | null
  icon: string | null
  category: string
  clickToGrant: boolean
  cgnatOpen: boolean
  hideFromUsers: boolean
  autoBrowseUsers: boolean
  grantType: 'userIp' | 'specifiedIps'
  backendType: string | null
  agentOnline: boolean
  restrictionType: 'none' | 'RFC1918' | 'allowList' | 'denyList'
  rfcType: 'allow' | 'deny'
  /** Passive: when the list was last read by anybody, and when the next of its readers is due. */
  listReadAt: Date | null
  listReadAgainAt: Date | null
  /** Passive+: a device of its could not be told that the list changed. */
  refreshFailed: boolean
  /** Whether the session's address may have it here and now; null when the session has no address to ask about. */
  allowed: boolean | null
  live: boolean
  endsAt: Date | null
  /** When the newest of the live grants was made. */
  grantedAt: Date | null
  everGranted: boolean
  lastReason: string | null
  /** How it is known that all which ended grants held is closed; null when it isn't, as when others hold it open. */
  closed: 'verified' | 'reported' | null
  entries: EntryRow[]
}

/**
 * The knocs a session may see, oldest first, in one statement; or just one of them.
 *
 * Entries of ended grants count while their close is not seen, so that a revoke shows until it is.
 */
export async function listAclStatuses(
  db: Kysely<DB>,
  sessionId: string,
  aclId: string | null = null,
): Promise<AclStatusRow[]> {
  const { rows } = await sql<AclStatusRow>`
    with client as (
      select address from session_addresses
      where session_id = ${sessionId}::uuid and source = 'own' and left_at is null
      order by last_seen_at desc, address limit 1),
    visible as (
      select ua.acl_id from sessions s join user_acls ua on ua.user_id = s.user_id where s.id = ${sessionId}::uuid
      union
      select ga.acl_id from sessions s
      join group_members m on m.user_id = s.user_id
      join groups gr on gr.id = m.group_id and gr.deleted_at is null
      join group_acls ga on ga.group_id = m.group_id where s.id = ${sessionId}::uuid)
    select a.id, a.description, a.url, a.icon, a.category, a.click_to_grant, a.cgnat_open, a.hide_from_users,
      a.auto_browse_users, a.grant_type, a.restriction_type, a.rfc_type, b.type as backend_type,
      coalesce(r.seen_at > statement_timestamp() - interval '6 seconds', false) as agent_online,
      (select address_allowed(a, c.address) from client c) as allowed,
      reads.list_read_at, reads.list_read_again_at,
      b.type = 'allowlist' and exists (
        select from acl_targets lt join list_refreshes lr on lr.list_id = lt.target_id
        where lt.acl_id = a.id and lr.error_code is not null) as refresh_failed,
      coalesce(standing.live, false) as live, standing.ends_at, standing.granted_at,
      last.id is not null as ever_granted, last.ended_reason as last_reason,
      coalesce(seen.entries, '[]') as entries, seen.closed
    from visible v
    join acls a on a.id = v.acl_id and a.deleted_at is null and a.parent_id is null
    left join backends b on b.id = a.backend_id
    left join agents ag on ag.id = b.agent_id
    left join replicas r on r.id = ag.link_replica
    left join lateral (
      select max(lr.read_at) as list_read_at, min(lr.read_at + (lr.read_at - lr.previous_read_at)) filter (
        where lr.read_at + (lr.read_at - lr.previous_read_at) > statement_timestamp()) as list_read_again_at
      from list_reads lr where lr.acl_id = a.id) reads on true
    left join lateral (
      select true as live, max(l.ends_at) as ends_at, max(l.created_at) as granted_at from live_grants l
      where l.session_id = ${sessionId}::uuid and l.acl_id = a.id having count(*) > 0) standing on true
    left join lateral (
      select g.id, g.ended_reason from grants g
      where g.session_id = ${sessionId}::uuid and g.acl_id = a.id and g.ended_at is not null
        and g.ended_reason <> 'addressChanged'
      order by g.created_at desc, g.id limit 1) last on true
    left join lateral (
      select jsonb_agg(distinct jsonb_build_object('id', e.id, 'desired', e.desired, 'generation', e.generation,
        'appliedGeneration', e.applied_generation, 'appliedDesired', e.applied_desired,
        'failedGeneration', e.failed_generation, 'outcome', e.outcome, 'attempts', e.attempts,
        'seenAt', case when e.outcome = 'verified' and e.applied_desired = 'open' and e.desired = 'open'
          and tr.error is null and tr.actual - tr."foreign" >= tr.desired
          then greatest(e.seen_at, tr.checked_at) else e.seen_at end)) filter (
          where g.ended_at is null or e.desired = 'closed' and e.applied_generation < e.generation) as entries,
        case when bool_and(e.desired = 'closed' and e.applied_generation = e.generation and e.applied_desired = 'closed')
          then case when bool_and(e.outcome = 'verified') then 'verified' else 'reported' end end as closed
      from grants g
      join acl_targets t on t.acl_id = a.id and t.family = family(g.address)
      join entries e on e.target_id = t.target_id and e.address = g.address
      left join target_reports tr on tr.target_id = e.target_id
      where g.session_id = ${sessionId}::uuid and g.acl_id = a.id) seen on true
    where ${aclId}::uuid is null or a.id = ${aclId}::uuid
    order by a.created_at, a.id`.execute(db)
  return rows
}

/** Whether this user may have this knoc at all; a child's id is taken as its parent's. */
export async function findVisibleAcl(
  db: Kysely<DB>,
  userId: string,
  aclId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select p.id from acls a join acls p on p.id = coalesce(a.parent_id, a.id)
    where a.id = ${aclId}::uuid and p.deleted_at is null and is_entitled(${userId}::uuid, p.id)`.execute(db)
  return rows[0]?.id
}
