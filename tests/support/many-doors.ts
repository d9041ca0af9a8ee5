import { type Kysely, sql } from 'kysely'
import { toLockOrder } from '#server/entries/entry-key.ts'
import { entriesATransaction, settleEntries } from '#server/entries/settle-entries.ts'
import { inTransaction } from '#server/platform/database.ts'
import type { DB } from '#server/platform/database.types.ts'
import type { Site } from './site.ts'

// Each of these changes rights and settles their entries in one transaction, as the server does: between two, its
// auditor would rightly find rights without their orders, repair them and call it a fault.

/** Many addresses held by one new session of a user; they stand once the agent got to them. */
export function standMany(
  site: Site,
  { aclId, userId, many }: { aclId: string; userId: string; many: number },
): Promise<string[]> {
  return inTransaction(site.db, async (tx) => {
    const { rows } = await sql<{ address: string }>`
      with made as (
        insert into sessions (user_id, token_hash, ip_address, ends_at)
        values (${userId}, gen_random_uuid()::text, '10.9.8.8', now() + interval '1 hour') returning id)
      insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
      select made.id, ${userId}, ${aclId}, inet '10.10.0.0' + n, inet '10.10.0.0' + n, 'own', 'click',
        now() + interval '1 hour'
      from made, generate_series(1, ${many}::int) as n
      returning host(address) as address`.execute(tx)
    const standing = rows.map((row) => row.address)
    await settle(tx, standing)
    return standing
  })
}

/** Ends their grants all at once. */
export function endMany(site: Site, list: readonly string[]): Promise<void> {
  return inTransaction(site.db, async (tx) => {
    await sql`
      update grants set ended_at = now(), ended_reason = 'revoked'
      where ended_at is null and address = any (${[...list]}::inet[])`.execute(tx)
    await settle(tx, list)
  })
}

/** Moves the end of what an address holds to so many seconds from now. */
export function endIn(site: Site, address: string, seconds: number): Promise<void> {
  return inTransaction(site.db, async (tx) => {
    await sql`
      update grants set ends_at = now() + make_interval(secs => ${seconds})
      where ended_at is null and address = ${address}::inet`.execute(tx)
    await settle(tx, [address])
  })
}

/** Has their entries on the one list of the site computed anew, as whoever changes grants does. */
async function settle(tx: Kysely<DB>, list: readonly string[]): Promise<void> {
  const { id: targetId } = await tx
    .selectFrom('targets')
    .select('id')
    .where('state', '=', 'active')
    .executeTakeFirstOrThrow()
  const keys = toLockOrder(list.map((address) => ({ targetId, address })))
  for (let from = 0; from < keys.length; from += entriesATransaction)
    await settleEntries(tx, keys.slice(from, from + entriesATransaction))
}
