import { etagOf } from '../platform/http/etag.ts'
import type { GroupView } from './group.query.ts'
import type { GroupRow } from './group.schema.ts'

/** A group as the console shows it. */
export const toGroupRow = (group: GroupView): GroupRow => ({
  ID: group.id,
  Name: group.name,
  Description: group.description,
  Type: group.type,
  ACLIDs: group.aclIds,
  UserIDs: group.userIds,
  UserCount: group.userIds.length,
  LastModifiedAt: group.lastModifiedAt.toISOString(),
})

/** The version of a group, memberships included. */
export const groupEtag = (group: GroupView): string => etagOf(toGroupRow(group))
