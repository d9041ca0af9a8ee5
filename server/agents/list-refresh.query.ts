import { type RawBuilder, sql } from 'kysely'
import type { ListRefresh } from './agent-list.schema.ts'

/** How a device was told to fetch its list, as the console shows it, of the row under this alias. */
export const refreshOf = (alias: string): RawBuilder<ListRefresh> => {
  const row = sql.table(alias)
  return sql`jsonb_build_object('RefreshedAt', ${row}.refreshed_at, 'Error', ${row}.error_text)`
}
