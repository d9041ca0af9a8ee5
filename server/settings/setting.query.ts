import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { type Settings, settingsSchema } from './setting.schema.ts'

/** All settings, one small SELECT; what was never saved, or isn't valid any more, has its default. */
export async function readSettings(db: Kysely<DB>): Promise<Settings> {
  const rows = await db
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', Object.keys(settingsSchema.shape))
    .execute()
  return settingsSchema.parse(Object.fromEntries(rows.map(({ name, value }) => [name, value])))
}
