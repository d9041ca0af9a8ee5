import { etagOf } from '../platform/http/etag.ts'
import type { AdminSessionFacts } from '../sessions/admin-session.query.ts'
import type { AdminView } from './admin.query.ts'
import type { AdminRow, AdminSessionRow } from './admin.schema.ts'

/** An administrator as the console shows him. */
export const toAdminRow = (admin: AdminView): AdminRow => ({
  ID: admin.id,
  Name: admin.name,
  UserName: admin.userName,
  AuthType: admin.authType,
  TOTPEnabled: admin.totpEnabled,
  TOTPVerified: admin.totpVerified,
  LoginEnabled: admin.loginEnabled,
  Role: admin.role,
  DN: admin.distinguishedName,
  LastLogin: admin.lastLoginAt?.toISOString() ?? null,
  CreatedAt: admin.createdAt.toISOString(),
  LastModifiedAt: admin.lastModifiedAt.toISOString(),
  Passkeys: admin.passkeys,
})

/** The version of an administrator: what an edit changes, and nothing that signing in does. */
export function adminEtag(admin: AdminView): string {
  const { LastLogin: _, TOTPVerified: __, Passkeys: ___, ...edited } = toAdminRow(admin)
  return etagOf(edited)
}

/** A session in the administrator's dialog; `current` is the one that asks. */
export const toAdminSessionRow =
  (current: string) =>
  (session: AdminSessionFacts): AdminSessionRow => ({
    ID: session.id,
    Created: session.createdAt.toISOString(),
    Ends: session.endsAt.toISOString(),
    IPAddress: session.address,
    Current: session.id === current,
  })
