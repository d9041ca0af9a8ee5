import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { Account, IdentityClaims } from './identity/identity.ts'

/**
 * Writes down what an identity provider says of a user: the name, the session minutes, and membership of every
 * `saml` or `dynamic` group whose name is among the claimed ones, in any case. Memberships that an administrator
 * gave stay; those of earlier claims that are no longer made go. Within `rights.change` of that user.
 *
 * @returns what changed, for the audit log.
 */
export async function applyUserClaims(
  tx: Kysely<DB>,
  { id }: Pick<Account, 'id'>,
  { realName, groups, sessionMinutes }: IdentityClaims,
): Promise<{ joined: string[]; left: string[] }> {
  if (realName !== undefined || sessionMinutes !== undefined)
    await tx
      .updateTable('users')
      .set({
        ...(realName !== undefined && { name: realName }),
        ...(sessionMinutes !== undefined && { sessionMinutes }),
      })
      .where('id', '=', id)
      .execute()
  return groups === undefined ? { joined: [], left: [] } : replaceClaimedGroups(tx, id, groups)
}

/** An administrator has no groups and a session of fixed length: the name is all that a claim changes. */
export async function applyAdminClaims(
  tx: Kysely<DB>,
  { id }: Pick<Account, 'id'>,
  { realName }: IdentityClaims,
): Promise<void> {
  if (realName !== undefined)
    await tx.updateTable('admins').set({ name: realName }).where('id', '=', id).execute()
}

async function replaceClaimedGroups(
  tx: Kysely<DB>,
  userId: string,
  groups: readonly string[],
): Promise<{ joined: string[]; left: string[] }> {
  const names = groups.map((name) => name.toLowerCase())
  const { rows } = await sql<{ name: string; change: 'joined' | 'left' }>`
    with claimed as (
      select id, name from groups
      where type in ('saml', 'dynamic') and deleted_at is null and lower(name) = any (${names}::text[])
      order by id for share),
    gone as (
      delete from group_members m using groups g
      where m.user_id = ${userId} and m.source = 'claim' and g.id = m.group_id
        and m.group_id not in (select id from claimed)
      returning g.name),
    added as (
      insert into group_members (group_id, user_id, source)
      select id, ${userId}::uuid, 'claim' from claimed
      on conflict do nothing
      returning group_id)
    select name, 'left' as change from gone
    union all select claimed.name, 'joined' from added join claimed on claimed.id = added.group_id`.execute(
    tx,
  )
  const changed = (change: string) => rows.filter((row) => row.change === change).map(({ name }) => name)
  return { joined: changed('joined'), left: changed('left') }
}
