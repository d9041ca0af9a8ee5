import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { Realm } from './session-cookie.ts'

/** Which sessions an OpenID provider means; with both names, a session has to match both. */
export type IdentitySessionNames = {
  /** One sign-in there: `issuer sid`. */
  identitySession?: string
  /** One person there, all sessions: `issuer subject`. */
  subject?: string
}

/** A live session that a provider means, and whose it is. */
export type IdentitySession = { id: string; ownerId: string; userName: string }

/** The live sessions of a realm that are meant; none without a name. */
export async function listIdentitySessions(
  db: Kysely<DB>,
  realm: Realm,
  { identitySession, subject }: IdentitySessionNames,
): Promise<IdentitySession[]> {
  const matches: RawBuilder<unknown>[] = [
    ...(identitySession === undefined ? [] : [sql`s.identity_session = ${identitySession}`]),
    ...(subject === undefined ? [] : [sql`o.third_party_auth = ${subject} and o.auth_type = 'OIDC'`]),
  ]
  if (matches.length === 0) return []
  const { rows } = await sql<IdentitySession>`
    select s.id, o.id as owner_id, o.user_name from ${from[realm]}
    where s.ended_at is null and ${sql.join(matches, sql` and `)}
    order by s.id`.execute(db)
  return rows
}

const from = {
  user: sql`sessions s join users o on o.id = s.user_id and o.deleted_at is null`,
  admin: sql`admin_sessions s join admins o on o.id = s.admin_id`,
}
