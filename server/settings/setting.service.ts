import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged, etagOf } from '../platform/http/etag.ts'
import { readSettings } from './setting.query.ts'
import type { ConfigChange, Settings } from './setting.schema.ts'
import { lockSettings, type SettingChanges, writeSettings } from './setting.store.ts'

/** The version of the settings that every page of Settings reads. */
export const settingsEtag = (settings: Settings): string => etagOf(settings)

/**
 * Saves what Settings → Kiosk holds; sessions that stand keep their ends.
 *
 * @returns the new version's ETag.
 * @throws err.changedMeanwhile
 */
export async function updateConfig(
  { db }: Pick<Deps, 'db'>,
  { request, ifMatch, by, requestId }: Acting & { request: ConfigChange; ifMatch: string | null },
): Promise<string> {
  return inTransaction(db.grants, async (tx) => {
    await lockSettings(tx)
    const before = await readSettings(tx)
    checkUnchanged(ifMatch, settingsEtag(before))
    const names = Object.keys(request) as (keyof ConfigChange)[]
    const changed = names.filter((name) => request[name] !== before[name])
    await saveSettings(tx, Object.fromEntries(changed.map((name) => [name, request[name]])), {
      by,
      requestId,
    })
    return settingsEtag(await readSettings(tx))
  })
}

/** Writes changed settings and tells the audit log their names, never their values. */
export async function saveSettings(
  tx: Kysely<DB>,
  changes: SettingChanges,
  { by, requestId }: Acting,
): Promise<void> {
  const fields = Object.keys(changes)
  if (fields.length === 0) return
  await writeSettings(tx, changes, by)
  const event = { kind: 'UpdateSettings', fields: { AdminName: by, Description: fields.join(', ') } } as const
  await writeAudit(tx, [{ ...event, detail: { fields } }], requestId)
}
