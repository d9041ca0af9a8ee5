import { sql } from 'kysely'
import type { Sealed } from '../backends/sealing.schema.ts'
import type { AclFields } from './acl.schema.ts'

/** An ACL as it is recorded. `config` holds its list's settings without secrets, and without the type's key. */
export type AclRecord = {
  id: string
  parentId: string | null
  backendId: string
  fields: Omit<AclFields, 'ID' | 'Config'>
  config: Record<string, unknown>
  sealed: Sealed
}

/** Columns of an ACL, for reads that build a record. */
export const aclColumns = [
  'id',
  'parentId',
  'backendId',
  'description',
  'url',
  'category',
  'icon',
  'clickToGrant',
  'cgnatOpen',
  'hideFromUsers',
  'hideFromAdmins',
  'autoBrowseUsers',
  'maximumGrantSeconds',
  'restrictionType',
  'rfcType',
  'grantType',
  'specifiedIps',
  'silenceSeconds',
  'cutConnections',
  'foreignEntries',
  'config',
  'sealed',
] as const

/** An ACL's ranges in their order, as one JSON value. */
export const rangesOf = (aclId: unknown) => sql`coalesce((
  select jsonb_agg(jsonb_build_object('Start', host(r.start_address), 'End', host(r.end_address)) order by r.position)
  from acl_ranges r where r.acl_id = ${aclId}), '[]')`

/** A range as it reads. */
export type Range = { Start: string; End: string }

/** A row with `aclColumns` and its ranges. */
export type AclRow = {
  id: string
  parentId: string | null
  backendId: string
  description: string
  url: string | null
  category: string
  icon: string | null
  clickToGrant: boolean
  cgnatOpen: boolean
  hideFromUsers: boolean
  hideFromAdmins: boolean
  autoBrowseUsers: boolean
  maximumGrantSeconds: number | null
  restrictionType: AclFields['IpExclusions']['RestrictionType']
  rfcType: AclFields['IpExclusions']['RfcType']
  grantType: AclFields['GrantType']['Type']
  specifiedIps: string[]
  silenceSeconds: number | null
  cutConnections: boolean
  foreignEntries: AclFields['ForeignEntries']
  config: Record<string, unknown>
  sealed: Sealed
  ranges: Range[]
}

/** What a row says, in the wire's names. */
export const toAclRecord = (row: AclRow): AclRecord => ({
  id: row.id,
  parentId: row.parentId,
  backendId: row.backendId,
  config: row.config,
  sealed: row.sealed,
  fields: {
    Description: row.description,
    URL: row.url ?? '',
    Category: row.category,
    Icon: row.icon ?? '',
    ClickToGrant: row.clickToGrant,
    CGNATOpen: row.cgnatOpen,
    HideFromUsers: row.hideFromUsers,
    HideFromAdmins: row.hideFromAdmins,
    AutoBrowseUsers: row.autoBrowseUsers,
    MaximumGrantDuration: row.maximumGrantSeconds,
    IpExclusions: { RestrictionType: row.restrictionType, RfcType: row.rfcType, Ranges: row.ranges },
    GrantType: { Type: row.grantType, Ips: row.specifiedIps.map((Ip) => ({ Ip })) },
    WhenServerSilent: row.silenceSeconds,
    CutConnections: row.cutConnections,
    ForeignEntries: row.foreignEntries,
  },
})
