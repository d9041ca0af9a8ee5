import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'

/**
 * Says why a click can't be granted, in the caller's words; asked under the granting transaction's locks.
 * `live_grants` would refuse the same, silently.
 *
 * @throws err.unlicensed, err.userUnlicensed, err.accessRestricted
 */
export async function checkMayClick(
  tx: Kysely<DB>,
  { id, userId }: { id: string; userId: string },
  aclId: string,
): Promise<void> {
  const { rows } = await sql<{ licensed: boolean; userLicensed: boolean; allowed: boolean }>`
    select exists (select from licences where removed_at is null and ended_at is null) as licensed,
      u.licensed as user_licensed,
      coalesce((
        select address_allowed(a, h.address) from session_addresses h
        where h.session_id = ${id}::uuid and h.left_at is null and h.source = 'own'
        order by h.last_seen_at desc, h.address limit 1), false) as allowed
    from users u, acls a where u.id = ${userId}::uuid and a.id = ${aclId}::uuid`.execute(tx)
  const facts = rows[0]
  if (facts === undefined) throw apiError('err.notFound')
  if (!facts.licensed) throw apiError('err.unlicensed')
  if (!facts.userLicensed) throw apiError('err.userUnlicensed')
  if (!facts.allowed) throw apiError('err.accessRestricted')
}
