import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPage, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'
import type { AclRow as AclAnswer, PassivePlusPart } from './acl.schema.ts'
import { type AclRow, rangesOf, toAclRecord } from './acl-record.query.ts'
import { passivePlusPart } from './passive-plus.query.ts'

/** A page of the ACLs, with search over their descriptions. */
export async function listAcls(db: Kysely<DB>, query: ListQuery): Promise<Page<AclAnswer>> {
  const { order, limits } = toPageSql(query, { columns, fallback: 'Description', id: sql`a.id` })
  const pattern = query.search === undefined ? null : toLikePattern(query.search)
  const { rows } = await sql<Row>`
    select count(*) over () as total, a.*, ${rangesOf(sql`a.id`)} as ranges, b.name as backend_name, b.type,
      ${passivePlusPart('a', sql`b.type`)} as passive_plus
    from acls a join backends b on b.id = a.backend_id
    where a.deleted_at is null and (${pattern}::text is null or a.description ilike ${pattern})
    order by ${order} ${limits}`.execute(db)
  return toPage(rows, toAnswer)
}

const columns: SortColumns = {
  Description: sql`lower(a.description)`,
  BackendName: sql`lower(b.name)`,
  LastModifiedAt: sql`a.last_modified_at`,
}

type Row = AclRow & {
  total: number
  type: string
  backendName: string
  passivePlus: PassivePlusPart
  lastModifiedAt: Date
  lastModifiedBy: string | null
}

function toAnswer(row: Row): AclAnswer {
  const { id, parentId, backendId, fields, config } = toAclRecord(row)
  return {
    ID: id,
    ...fields,
    Config: { [row.type]: config },
    BackendID: backendId,
    BackendName: row.backendName,
    ParentID: parentId,
    PassivePlus: row.passivePlus,
    LastModifiedAt: row.lastModifiedAt.toISOString(),
    LastModifiedBy: row.lastModifiedBy,
  }
}
