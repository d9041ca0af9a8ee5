import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import type { AddressRange } from './acl-addresses.ts'
import {
  type AclRecord,
  type AclRow,
  aclColumns,
  type Range,
  rangesOf,
  toAclRecord,
} from './acl-record.query.ts'

/** Of an ACL's fields what is normalised before it is written. */
export type AclWrite = AclRecord & { ranges: AddressRange[]; specifiedIps: string[]; by: string }

/** An ACL, locked until the transaction ends; throws err.notFound. */
export async function lockAcl(tx: Kysely<DB>, id: string): Promise<AclRecord> {
  const row = await tx
    .selectFrom('acls')
    .select(aclColumns)
    .select((from) => sql<Range[]>`${rangesOf(from.ref('acls.id'))}`.as('ranges'))
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (row === undefined) throw apiError('err.notFound')
  return toAclRecord(row as AclRow)
}

/** Inserts an ACL with its ranges. */
export async function insertAcl(tx: Kysely<DB>, acl: AclWrite): Promise<void> {
  await tx
    .insertInto('acls')
    .values({ id: acl.id, ...toColumns(acl) })
    .execute()
  await insertRanges(tx, acl)
}

/** Writes what an ACL is now. */
export async function updateAcl(tx: Kysely<DB>, acl: AclWrite): Promise<void> {
  await tx
    .updateTable('acls')
    .set({ ...toColumns(acl), lastModifiedAt: sql`now()` })
    .where('id', '=', acl.id)
    .execute()
  await tx.deleteFrom('aclRanges').where('aclId', '=', acl.id).execute()
  await insertRanges(tx, acl)
}

/** An ACL that may have children: it is there and no child itself. It can't be deleted before the transaction ends. */
export async function findParent(tx: Kysely<DB>, id: string): Promise<AclRecord | null> {
  const row = await tx
    .selectFrom('acls')
    .select(aclColumns)
    .select((from) => sql<Range[]>`${rangesOf(from.ref('acls.id'))}`.as('ranges'))
    .where('id', '=', id)
    .where('parentId', 'is', null)
    .where('deletedAt', 'is', null)
    .forShare()
    .executeTakeFirst()
  return row === undefined ? null : toAclRecord(row as AclRow)
}

/** The children of an ACL that aren't deleted. */
export async function listChildIds(db: Kysely<DB>, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('acls')
    .select('id')
    .where('parentId', '=', id)
    .where('deletedAt', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Marks an ACL deleted and takes its memberships and the key scopes that name it along. */
export async function markAclDeleted(tx: Kysely<DB>, id: string, by: string): Promise<void> {
  await tx
    .updateTable('acls')
    .set({ deletedAt: sql`now()`, lastModifiedAt: sql`now()`, lastModifiedBy: by })
    .where('id', '=', id)
    .execute()
  await tx.deleteFrom('userAcls').where('aclId', '=', id).execute()
  await tx.deleteFrom('groupAcls').where('aclId', '=', id).execute()
  const scope = `allowlists.read:${id}`
  await sql`
    update api_keys set scopes = array_remove(scopes, ${scope}), last_modified_at = now()
    where ${scope} = any (scopes)`.execute(tx)
}

const toColumns = ({ parentId, backendId, fields, config, sealed, specifiedIps, by }: AclWrite) => ({
  parentId,
  backendId,
  description: fields.Description,
  url: fields.URL,
  category: fields.Category,
  icon: fields.Icon,
  clickToGrant: fields.ClickToGrant,
  cgnatOpen: fields.CGNATOpen,
  hideFromUsers: fields.HideFromUsers,
  hideFromAdmins: fields.HideFromAdmins,
  autoBrowseUsers: fields.AutoBrowseUsers,
  maximumGrantSeconds: fields.MaximumGrantDuration,
  restrictionType: fields.IpExclusions.RestrictionType,
  rfcType: fields.IpExclusions.RfcType,
  grantType: fields.GrantType.Type,
  specifiedIps,
  silenceSeconds: fields.WhenServerSilent,
  cutConnections: fields.CutConnections,
  foreignEntries: fields.ForeignEntries,
  config: JSON.stringify(config),
  sealed: JSON.stringify(sealed),
  lastModifiedBy: by,
})

async function insertRanges(tx: Kysely<DB>, { id, ranges }: AclWrite): Promise<void> {
  if (ranges.length === 0) return
  await tx
    .insertInto('aclRanges')
    .values(
      ranges.map(({ start, end }, position) => ({
        aclId: id,
        position,
        startAddress: start,
        endAddress: end,
      })),
    )
    .execute()
}
