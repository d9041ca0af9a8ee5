import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Any fixed number that nothing else uses: settings are changed one after another. */
const settingsLock = 4_210_004

/** Keeps every other change of settings waiting until the transaction ends. */
export async function lockSettings(tx: Kysely<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${settingsLock})`.execute(tx)
}

/** What is to be stored under each name; '' removes the row, as if it had never been saved. */
export type SettingChanges = Readonly<Record<string, string | number | boolean>>

/** Writes settings by name. */
export async function writeSettings(tx: Kysely<DB>, changes: SettingChanges, by: string): Promise<void> {
  for (const [name, value] of Object.entries(changes))
    await (value === '' ? removeSetting(tx, name) : writeSetting(tx, { name, value, by }))
}

async function removeSetting(tx: Kysely<DB>, name: string): Promise<void> {
  await tx.deleteFrom('settings').where('name', '=', name).execute()
}

async function writeSetting(
  tx: Kysely<DB>,
  { name, value, by }: { name: string; value: string | number | boolean; by: string },
): Promise<void> {
  await sql`
    insert into settings (name, value, last_modified_by) values (${name}, ${JSON.stringify(value)}::jsonb, ${by})
    on conflict (name) do update set value = excluded.value, last_modified_by = excluded.last_modified_by,
      last_modified_at = clock_timestamp()`.execute(tx)
}
