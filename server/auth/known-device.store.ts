import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { Realm } from '../sessions/session-cookie.ts'

/** Devices remembered for one account; beyond them the one not seen for longest is forgotten. */
const devicesAtMost = 20

/** The device of a token if it is one of the account with this name; its id. */
export async function findKnownDevice(
  db: Kysely<DB>,
  { realm, userName, tokenHash }: { realm: Realm; userName: string; tokenHash: string },
): Promise<string | undefined> {
  const account =
    realm === 'user'
      ? sql`users a on a.id = d.user_id and a.deleted_at is null`
      : sql`admins a on a.id = d.admin_id`
  const { rows } = await sql<{ id: string }>`
    select d.id from known_devices d join ${account}
    where d.token_hash = ${tokenHash} and lower(a.user_name) = lower(${userName})`.execute(db)
  return rows[0]?.id
}

/** Marks a device of an account as seen; false when it isn't one. */
export async function touchKnownDevice(
  tx: Kysely<DB>,
  { realm, id, tokenHash }: { realm: Realm; id: string; tokenHash: string },
): Promise<boolean> {
  const { rows } = await sql`
    update known_devices set seen_at = statement_timestamp()
    where token_hash = ${tokenHash} and ${owner(realm)} = ${id} returning id`.execute(tx)
  return rows.length > 0
}

/** Remembers a device of an account; under the account's lock, so that two at once are counted. */
export async function insertKnownDevice(
  tx: Kysely<DB>,
  { realm, id, tokenHash }: { realm: Realm; id: string; tokenHash: string },
): Promise<void> {
  await sql`
    with forgotten as (
      delete from known_devices where id in (
        select id from known_devices where ${owner(realm)} = ${id}
        order by seen_at desc, id offset ${devicesAtMost - 1}))
    insert into known_devices (${owner(realm)}, token_hash) values (${id}, ${tokenHash})`.execute(tx)
}

const owner = (realm: Realm) => sql.ref(realm === 'user' ? 'user_id' : 'admin_id')
