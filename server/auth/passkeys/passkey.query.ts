import { type Kysely, sql } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { PasskeyOwner } from './passkey-owner.ts'

/** A passkey as its owner reads it. */
export type PasskeyView = { id: string; name: string; createdAt: Date; lastUsedAt: Date | null }

/** A passkey as an answer of a browser is verified with it. */
export type StoredPasskey = {
  id: string
  accountId: string
  credentialId: string
  /** COSE key. */
  publicKey: Uint8Array<ArrayBuffer>
  /** The highest signature counter seen; stays 0 for authenticators that have none. */
  counter: number
}

/** What a browser is told of a passkey, so that it finds the authenticator. */
export type CredentialHint = { id: string; transports: string[] }

/** The column that says whose a passkey is. */
export const ownerColumn = (realm: Realm) => sql.ref(realm === 'user' ? 'user_id' : 'admin_id')

/** An account's passkeys, oldest first. */
export async function listPasskeys(
  db: Kysely<DB>,
  { realm, id }: Pick<PasskeyOwner, 'realm' | 'id'>,
): Promise<PasskeyView[]> {
  const { rows } = await sql<PasskeyView>`
    select id, name, created_at, last_used_at from passkeys where ${ownerColumn(realm)} = ${id}
    order by created_at, id`.execute(db)
  return rows
}

/** The credentials that an account's passkeys are. */
export async function listCredentials(
  db: Kysely<DB>,
  { realm, id }: Pick<PasskeyOwner, 'realm' | 'id'>,
): Promise<CredentialHint[]> {
  const { rows } = await sql<CredentialHint>`
    select credential_id as id, transports from passkeys where ${ownerColumn(realm)} = ${id}
    order by created_at, id`.execute(db)
  return rows
}

/** The passkey of a realm that a browser names. */
export async function findPasskey(
  db: Kysely<DB>,
  realm: Realm,
  credentialId: string,
): Promise<StoredPasskey | undefined> {
  const { rows } = await sql<StoredPasskey>`
    select id, ${ownerColumn(realm)} as account_id, credential_id, public_key, counter from passkeys
    where credential_id = ${credentialId} and ${ownerColumn(realm)} is not null`.execute(db)
  return rows[0]
}
