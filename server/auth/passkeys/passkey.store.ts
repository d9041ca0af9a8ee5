import { type Kysely, sql } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import { ownerColumn } from './passkey.query.ts'
import type { PasskeyOwner } from './passkey-owner.ts'

/** A passkey that was just made. */
export type NewPasskey = {
  name: string
  credentialId: string
  /** COSE key. */
  publicKey: Uint8Array
  counter: number
  transports: string[]
}

/** Whose a passkey is. */
type Owner = Pick<PasskeyOwner, 'realm' | 'id'>

/** Locks an account until the transaction ends and counts its passkeys, so that two requests can't both be the last. */
export async function countPasskeysLocked(tx: Kysely<DB>, { realm, id }: Owner): Promise<number> {
  const accounts = sql.table(realm === 'user' ? 'users' : 'admins')
  await sql`select id from ${accounts} where id = ${id} for no key update`.execute(tx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from passkeys where ${ownerColumn(realm)} = ${id}`.execute(tx)
  return rows[0]?.count ?? 0
}

/** Inserts a passkey; undefined when its credential is known already, whoever's it is. */
export async function insertPasskey(
  tx: Kysely<DB>,
  { realm, id }: Owner,
  { name, credentialId, publicKey, counter, transports }: NewPasskey,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into passkeys (${ownerColumn(realm)}, name, credential_id, public_key, counter, transports)
    values (${id}, ${name}, ${credentialId}, ${Buffer.from(publicKey)}, ${counter}, ${transports}::text[])
    on conflict (credential_id) do nothing returning id`.execute(tx)
  return rows[0]?.id
}

/** Renames an account's passkey; false when it isn't the account's. */
export async function updatePasskeyName(
  tx: Kysely<DB>,
  { realm, id }: Owner,
  passkey: { id: string; name: string },
): Promise<boolean> {
  const { rows } = await sql`
    update passkeys set name = ${passkey.name}
    where id = ${passkey.id} and ${ownerColumn(realm)} = ${id} returning id`.execute(tx)
  return rows.length > 0
}

/** Deletes an account's passkey; answers its name, or undefined when it isn't the account's. */
export async function deletePasskeyRow(
  tx: Kysely<DB>,
  { realm, id }: Owner,
  passkeyId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    delete from passkeys where id = ${passkeyId} and ${ownerColumn(realm)} = ${id} returning name`.execute(tx)
  return rows[0]?.name
}

/**
 * Remembers that a passkey was used, with its authenticator's counter; false when that doesn't go up (both 0 = the
 * authenticator has none), which tells of a copy (WebAuthn Level 3 §6.1.1), or when the passkey is gone.
 */
export async function markPasskeyUsed(
  tx: Kysely<DB>,
  { id, counter }: { id: string; counter: number },
): Promise<boolean> {
  const { rows } = await sql`
    update passkeys set counter = ${counter}, last_used_at = statement_timestamp()
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0))
    returning id`.execute(tx)
  return rows.length > 0
}
