import { sql } from 'kysely'
import { settleEntries } from '#server/entries/settle-entries.ts'
import { inTransaction } from '#server/platform/database.ts'
import type { Site } from './site.ts'

/** Many addresses held by one new session of a user; they stand once the agent got to them. */
export async function standMany(
  site: Site,
  { aclId, userId, many }: { aclId: string; userId: string; many: number },
) {
  const { rows } = await sql<{ address: string }>`
    with made as (
      insert into sessions (user_id, token_hash, ip_address, ends_at)
      values (${userId}, gen_random_uuid()::text, '10.9.8.8', now() + interval '1 hour') returning id)
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    select made.id, ${userId}, ${aclId}, inet '10.10.0.0' + n, inet '10.10.0.0' + n, 'own', 'click',
      now() + interval '1 hour'
    from made, generate_series(1, ${many}::int) as n
    returning host(address) as address`.execute(site.db)
  const standing = rows.map((row) => row.address)
  await settle(site, standing)
  return standing
}

/** Ends their grants all at once. */
export async function endMany(site: Site, list: readonly string[]): Promise<void> {
  await sql`
    update grants set ended_at = now(), ended_reason = 'revoked'
    where ended_at is null and address = any (${[...list]}::inet[])`.execute(site.db)
  await settle(site, list)
}

/** Has their entries computed anew, as whoever changes grants does. */
export async function settle(site: Site, list: readonly string[]): Promise<void> {
  const target = await site.db
    .selectFrom('targets')
    .select('id')
    .where('state', '=', 'active')
    .executeTakeFirstOrThrow()
  for (let from = 0; from < list.length; from += 1_000)
    await inTransaction(site.db, (tx) =>
      settleEntries(
        tx,
        list.slice(from, from + 1_000).map((address) => ({ targetId: target.id, address })),
      ),
    )
}
