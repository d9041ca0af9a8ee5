import { etagOf } from '../platform/http/etag.ts'
import type { LiveSessionFacts } from '../sessions/session.query.ts'
import type { listUserAcls, listUserGroups, UserView } from './user.query.ts'
import type { UserAclRow, UserGroupRow, UserRow, UserSessionRow } from './user.schema.ts'

/** A user as the console shows it. */
export const toUserRow = (user: UserView): UserRow => ({
  ID: user.id,
  Name: user.name,
  Company: user.company,
  UserName: user.userName,
  AuthType: user.authType,
  Duration: user.sessionMinutes,
  SessionLimit: user.sessionLimit,
  TOTPEnabled: user.totpEnabled,
  TOTPVerified: user.totpVerified,
  ThirdPartyAuth: user.thirdPartyAuth,
  ValidUntil: user.validUntil?.toISOString() ?? null,
  LoginEnabled: user.loginEnabled,
  LastLogin: user.lastLoginAt?.toISOString() ?? null,
  CreatedAt: user.createdAt.toISOString(),
  LastModifiedAt: user.lastModifiedAt.toISOString(),
  ActiveSession: user.hasActiveSession,
  Licensed: user.licensed,
  AclIds: user.aclIds,
})

/** The version of a user: what an administrator edits, memberships included, and nothing that signing in changes. */
export function userEtag(user: UserView): string {
  const { LastLogin: _, ActiveSession: __, Licensed: ___, TOTPVerified: ____, ...edited } = toUserRow(user)
  return etagOf(edited)
}

/** A session in the user's dialog. */
export const toSessionRow = (session: LiveSessionFacts): UserSessionRow => ({
  ID: session.id,
  Created: session.createdAt.toISOString(),
  Ends: session.endsAt.toISOString(),
  IPAddress: session.address,
})

type Item<List extends (...args: never[]) => Promise<unknown[]>> = Awaited<ReturnType<List>>[number]

/** A group in the user's dialog. */
export const toGroupRow = (group: Item<typeof listUserGroups>): UserGroupRow => ({
  ID: group.id,
  Name: group.name,
  Description: group.description,
  Type: group.type,
})

/** An access rule in the user's dialog. */
export const toAclRow = (acl: Item<typeof listUserAcls>): UserAclRow => ({
  ID: acl.id,
  Description: acl.description,
  URL: acl.url,
  Direct: acl.isDirect,
  Groups: acl.groups,
})
