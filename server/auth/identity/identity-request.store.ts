import { type Kysely, sql } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'

/** Minutes that somebody may take at the identity provider or with the passkey (decision 16). */
export const requestMinutes = 10

/** Requests that ran out and are removed with each new one, so that the table stays small. */
const removedAtOnce = 20

/** What a browser was sent away with, to be found again when it comes back. */
export type IdentityRequest = {
  realm: Realm
  kind: 'saml' | 'oidc' | 'passkey'
  /** SAML: the request's ID; OIDC: the state; passkey: the challenge. Unguessable. */
  requestId: string
  /** Hash of the browser's pre-login cookie: nobody else may bring the answer. */
  browserHash: string
  /** What else has to be known then: kiosk mode, code verifier, nonce. */
  facts: Record<string, unknown>
}

/** Remembers a request for ten minutes. */
export async function openIdentityRequest(db: Kysely<DB>, request: IdentityRequest): Promise<void> {
  await sql`
    delete from identity_requests where id in (
      select id from identity_requests where expires_at < statement_timestamp()
      order by expires_at limit ${removedAtOnce} for update skip locked)`.execute(db)
  await sql`
    insert into identity_requests (realm, kind, request_id, browser_hash, facts, expires_at)
    values (${request.realm}, ${request.kind}, ${request.requestId}, ${request.browserHash},
      ${JSON.stringify(request.facts)}::jsonb, statement_timestamp() + make_interval(mins => ${requestMinutes}))`.execute(
    db,
  )
}

/** An open request of this browser, or undefined: unknown, used, run out, another browser's. It stays open. */
export async function findIdentityRequest(
  db: Kysely<DB>,
  { realm, kind, requestId, browserHash }: Omit<IdentityRequest, 'facts'>,
): Promise<IdentityRequest | undefined> {
  const { rows } = await sql<{ facts: Record<string, unknown> }>`
    select facts from identity_requests
    where request_id = ${requestId} and realm = ${realm} and kind = ${kind} and browser_hash = ${browserHash}
      and used_at is null and expires_at > statement_timestamp()`.execute(db)
  return rows[0] && { realm, kind, requestId, browserHash, facts: rows[0].facts }
}

/** Uses a request up, once over all replicas; false when somebody else did. Only after everything else was checked. */
export async function useIdentityRequest(db: Kysely<DB>, requestId: string): Promise<boolean> {
  const { rows } = await sql`
    update identity_requests set used_at = statement_timestamp()
    where request_id = ${requestId} and used_at is null and expires_at > statement_timestamp()
    returning id`.execute(db)
  return rows.length > 0
}

/**
 * Remembers an assertion until it runs out; false when it was seen before, by whatever replica. `issuer` is part of
 * the id, because two providers may draw the same.
 */
export async function useAssertion(
  db: Kysely<DB>,
  { issuer, id, expiresAt }: { issuer: string; id: string; expiresAt: Date },
): Promise<boolean> {
  await sql`
    delete from used_assertions where assertion_id in (
      select assertion_id from used_assertions where expires_at < statement_timestamp() - interval '1 hour'
      order by expires_at limit ${removedAtOnce} for update skip locked)`.execute(db)
  const { rows } = await sql`
    insert into used_assertions (assertion_id, expires_at) values (${`${issuer} ${id}`}, ${expiresAt})
    on conflict do nothing returning assertion_id`.execute(db)
  return rows.length > 0
}
