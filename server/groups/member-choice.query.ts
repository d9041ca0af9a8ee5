import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'

/**
 * Checks users that are to be added to a group: they exist, and no identity provider made them (those come by their
 * claims alone). Console §2 "Groups", specification README "One name, one person".
 *
 * @throws err.invalidField, Extra the place in UserIDs
 */
export async function checkAddable(
  db: Kysely<DB>,
  added: readonly string[],
  requested: readonly string[],
): Promise<void> {
  if (added.length === 0) return
  const { rows } = await sql<{ id: string }>`
    select id from users
    where id = any (${[...added]}::uuid[]) and deleted_at is null and auth_type not in ('SAML', 'OIDC')`.execute(
    db,
  )
  const addable = new Set(rows.map(({ id }) => id))
  const refused = added.find((id) => !addable.has(id))
  if (refused !== undefined)
    throw apiError('err.invalidField', { extra: `UserIDs.${requested.indexOf(refused)}` })
}
