import { type Kysely, type RawBuilder, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPage, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'
import type { AdminRow } from './admin.schema.ts'

/** An administrator as the console reads him. */
export type AdminView = {
  id: string
  name: string
  userName: string
  authType: AdminRow['AuthType']
  role: string
  totpEnabled: boolean
  totpVerified: boolean
  loginEnabled: boolean
  distinguishedName: string | null
  passkeys: number
  lastLoginAt: Date | null
  createdAt: Date
  lastModifiedAt: Date
}

/** A page of the administrators, with search over name and user name, in the order asked for. */
export async function listAdmins(db: Kysely<DB>, query: ListQuery): Promise<Page<AdminView>> {
  const { order, limits } = toPageSql(query, { columns, fallback: 'Name', id: sql`a.id` })
  const pattern = query.search === undefined ? null : toLikePattern(query.search)
  const which = sql`${pattern}::text is null or a.name ilike ${pattern} or a.user_name ilike ${pattern}`
  const rows = await selectAdmins(db, sql`${which} order by ${order} ${limits}`)
  return toPage(rows, toView)
}

/** One administrator; throws err.notFound. */
export async function getAdmin(db: Kysely<DB>, id: string): Promise<AdminView> {
  const [row] = await selectAdmins(db, sql`a.id = ${id}`)
  if (row === undefined) throw apiError('err.notFound')
  return toView(row)
}

/**
 * Whether an owner is left who can sign in: enabled, and with a password or a way in that is configured.
 * Specification README "One name, one person".
 */
export async function hasOwner(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ isLeft: boolean }>`
    select exists (
      select from admins a
      where a.role = 'owner' and a.login_enabled and case a.auth_type
        when 'local' then a.password_hash is not null
        else exists (
          select from settings s
          where s.value <> '""' and s.name = any (case a.auth_type
            when 'LDAP' then array['LDAPURL']
            when 'SAML' then array['AdminSAMLMetadataURL', 'AdminSAMLMetadataFile']
            else array['AdminOIDCIssuer'] end)) end) as is_left`.execute(db)
  return rows[0]?.isLeft ?? false
}

const columns: SortColumns = {
  Name: sql`lower(a.name)`,
  UserName: sql`lower(a.user_name)`,
  AuthType: sql`a.auth_type`,
  Role: sql`a.role`,
  LastLogin: sql`a.last_login_at`,
  CreatedAt: sql`a.created_at`,
  LastModifiedAt: sql`a.last_modified_at`,
}

function toView(row: AdminView & { total: number }): AdminView {
  const { total: _, ...admin } = row
  return admin
}

async function selectAdmins(
  db: Kysely<DB>,
  which: RawBuilder<unknown>,
): Promise<(AdminView & { total: number })[]> {
  const { rows } = await sql<AdminView & { total: number }>`
    select count(*) over () as total, a.id, a.name, a.user_name, a.auth_type, a.role, a.totp_enabled,
      a.totp_confirmed_at is not null as totp_verified, a.login_enabled,
      case when a.auth_type = 'LDAP' then a.third_party_auth end as distinguished_name,
      (select count(*) from passkeys p where p.admin_id = a.id) as passkeys,
      a.last_login_at, a.created_at, a.last_modified_at
    from admins a where ${which}`.execute(db)
  return rows
}
