import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Where a key may be used from. */
type AllowedFrom = readonly { prefix: string; note: string }[]

/** A key as it is judged when somebody shows it; its state is by the database's clock. */
export type ApiKeyFacts = {
  id: string
  name: string
  purpose: string
  scopes: string[]
  userId: string | null
  allowedFrom: AllowedFrom
  isDeleted: boolean
  isExpired: boolean
}

/** The key with a hash, deleted and expired ones included: why one was refused is for the audit log. */
export async function findApiKey(db: Kysely<DB>, keyHash: string): Promise<ApiKeyFacts | undefined> {
  const { rows } = await sql<ApiKeyFacts>`
    select id, name, purpose, scopes, user_id, allowed_from, deleted_at is not null as is_deleted,
      coalesce(expired_after <= statement_timestamp(), false) as is_expired
    from api_keys where key_hash = ${keyHash}`.execute(db)
  return rows[0]
}

/** Where the key that made a session may be used from; undefined when the key was deleted meanwhile. */
export async function findAllowedFromOfSession(
  db: Kysely<DB>,
  sessionId: string,
): Promise<AllowedFrom | undefined> {
  const { rows } = await sql<{ allowedFrom: AllowedFrom }>`
    select k.allowed_from from sessions s join api_keys k on k.id = s.api_key_id
    where s.id = ${sessionId}::uuid and k.deleted_at is null`.execute(db)
  return rows[0]?.allowedFrom
}
