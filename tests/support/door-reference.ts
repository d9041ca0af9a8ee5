import ipaddr from 'ipaddr.js'
import { type Kysely, sql } from 'kysely'
import type { DB } from '#server/platform/database.types.ts'

/** A door as a test names it: the agent, the set, the address. */
export const doorName = (agent: string, set: string, address: string): string => `${agent} ${set} ${address}`

/**
 * Which doors have to be open, told a second time: from the tables of people, knocs and grants, with no view, no
 * function and no target of the server's. A door's latest end comes with it, in milliseconds since 1970.
 */
export async function readReference(db: Kysely<DB>): Promise<Map<string, number>> {
  const { rows } = await sql<{ grants: GrantFacts[]; licensed: boolean; now: Date }>`
    select statement_timestamp() as now, exists (select from licences where removed_at is null) as licensed,
      coalesce((select jsonb_agg(jsonb_build_object(
        'address', host(g.address), 'client', host(g.client_address), 'source', g.source,
        'ends', extract(epoch from g.ends_at) * 1000,
        'sessionEnds', extract(epoch from s.ends_at) * 1000,
        'validUntil', extract(epoch from u.valid_until) * 1000,
        'personCounts', u.login_enabled and u.licensed and u.deleted_at is null
          and s.ended_at is null and s.stage = 'complete' and a.deleted_at is null,
        'isGiven', (select count(*) from user_acls m where m.user_id = u.id and m.acl_id = a.id)
          + (select count(*) from group_members m, group_acls x, groups o where m.user_id = u.id
             and x.group_id = m.group_id and x.acl_id = a.id and o.id = m.group_id and o.deleted_at is null),
        'restriction', a.restriction_type, 'rfc', a.rfc_type, 'grantType', a.grant_type, 'cgnat', a.cgnat_open,
        'fixed', (select coalesce(jsonb_agg(host(f)), '[]') from unnest(a.specified_ips) f),
        'ranges', (select coalesce(jsonb_agg(jsonb_build_array(host(r.start_address), host(r.end_address))), '[]')
          from acl_ranges r where r.acl_id = a.id),
        'agent', n.name, 'sets', a.config))
        from grants g, sessions s, users u, acls a, backends b, agents n
        where g.ended_at is null and s.id = g.session_id and u.id = g.user_id and a.id = g.acl_id
          and b.id = a.backend_id and n.id = b.agent_id and b.type = 'ipset'), '[]') as grants`.execute(db)
  const { grants = [], licensed = false, now = new Date(0) } = rows[0] ?? {}
  const doors = new Map<string, number>()
  for (const grant of licensed ? grants : []) {
    const set = grant.address.includes(':') ? grant.sets.V6SetName : grant.sets.V4SetName
    const end = Math.min(grant.ends, grant.sessionEnds, grant.validUntil ?? Infinity)
    if (set === undefined || end <= now.getTime() || !counts(grant)) continue
    const name = doorName(grant.agent, set, grant.address)
    doors.set(name, Math.max(end, doors.get(name) ?? 0))
  }
  return doors
}

type GrantFacts = {
  address: string
  client: string
  source: 'own' | 'discovered' | 'claimed' | 'specified'
  ends: number
  sessionEnds: number
  validUntil: number | null
  personCounts: boolean
  isGiven: number
  restriction: 'none' | 'RFC1918' | 'allowList' | 'denyList'
  rfc: 'allow' | 'deny'
  grantType: 'userIp' | 'specifiedIps'
  cgnat: boolean
  fixed: string[]
  ranges: [string, string][]
  agent: string
  sets: { V4SetName?: string; V6SetName?: string }
}

const counts = (grant: GrantFacts): boolean =>
  grant.personCounts && grant.isGiven > 0 && isAllowed(grant) && isOfType(grant)

function isOfType({ grantType, source, cgnat, fixed, address }: GrantFacts): boolean {
  if (source === 'specified') return grantType === 'specifiedIps' && fixed.includes(address)
  return grantType === 'userIp' && (source === 'own' || cgnat)
}

function isAllowed({ restriction, rfc, ranges, client }: GrantFacts): boolean {
  if (restriction === 'none') return true
  if (restriction === 'RFC1918')
    return ['private', 'uniqueLocal'].includes(ipaddr.parse(client).range()) === (rfc === 'allow')
  const isListed = ranges.some(
    ([start, end]) =>
      start.includes(':') === client.includes(':') &&
      toNumber(start) <= toNumber(client) &&
      toNumber(client) <= toNumber(end),
  )
  return isListed === (restriction === 'allowList')
}

const toNumber = (address: string): bigint =>
  ipaddr
    .parse(address)
    .toByteArray()
    .reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
