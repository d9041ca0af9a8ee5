import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A new key's columns. Of the key itself only its hash is kept. */
export type NewApiKey = {
  name: string
  purpose: string
  keyHash: string
  scopes: string[]
  allowedFrom: readonly { prefix: string; note: string }[]
  userId: string | null
  expiredAfter: Date | null
}

/** Notes that a live key was used now; false when it was deleted or ran out meanwhile. */
export async function useApiKey(tx: Kysely<DB>, id: string): Promise<boolean> {
  const { rows } = await sql`
    update api_keys set last_used_at = statement_timestamp()
    where id = ${id}::uuid and deleted_at is null
      and (expired_after is null or expired_after > statement_timestamp())
    returning id`.execute(tx)
  return rows.length > 0
}

/** Inserts a key; undefined when the name is taken. */
export async function insertApiKey(tx: Kysely<DB>, key: NewApiKey): Promise<string | undefined> {
  const row = await tx
    .insertInto('apiKeys')
    .values({ ...key, allowedFrom: JSON.stringify(key.allowedFrom) })
    .onConflict((conflict) =>
      conflict.expression(sql`lower(name)`).where('deletedAt', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** A key that reads passive lists and is of use, locked until the transaction ends; false when there is none. */
export async function lockListKey(tx: Kysely<DB>, id: string): Promise<boolean> {
  const { rows } = await sql`
    select id from api_keys
    where id = ${id}::uuid and purpose = 'allowlists' and deleted_at is null
      and (expired_after is null or expired_after > statement_timestamp())
    for no key update`.execute(tx)
  return rows.length > 0
}

/** Adds a scope to a key; false when it has it already. */
export async function addScope(tx: Kysely<DB>, id: string, scope: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update api_keys set scopes = scopes || ${scope}::text, last_modified_at = now()
    where id = ${id}::uuid and not ${scope} = any (scopes)`.execute(tx)
  return numAffectedRows > 0n
}

/** Takes a scope out of a key; false when it hasn't got it. */
export async function removeScope(tx: Kysely<DB>, id: string, scope: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update api_keys set scopes = array_remove(scopes, ${scope}), last_modified_at = now()
    where id = ${id}::uuid and ${scope} = any (scopes)`.execute(tx)
  return numAffectedRows > 0n
}
