import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { checkUnchanged, etagOf } from '../platform/http/etag.ts'
import { readLogoAddresses } from './logo.query.ts'
import { type LogoName, logoNames, readLogo } from './logo.schema.ts'
import { writeLogo } from './logo.store.ts'
import { readSettings } from './setting.query.ts'
import type { ConfigChange, CustomizeChange, Settings, SettingsAnswer } from './setting.schema.ts'
import { lockSettings, type SettingChanges, writeSettings } from './setting.store.ts'

type Change<Request> = Acting & { request: Request; ifMatch: string | null }

/** What the pages of Settings show, logos as addresses. */
export async function readSettingsAnswer(db: Kysely<DB>): Promise<SettingsAnswer> {
  const [settings, logos] = [await readSettings(db), await readLogoAddresses(db)]
  return { ...settings, Logo: logos.Logo ?? '', LightModeLogo: logos.LightModeLogo ?? '' }
}

/** The version of the settings that every page of Settings reads; a new logo makes a new one too. */
export const settingsEtag = (settings: SettingsAnswer): string => etagOf(settings)

/**
 * Saves what Settings → Discovery and Kiosk hold: absent fields stay. Sessions that stand keep their ends.
 *
 * @returns the new version's ETag.
 * @throws err.changedMeanwhile
 */
export const updateConfig = (deps: Pick<Deps, 'db'>, change: Change<ConfigChange>): Promise<string> =>
  changeSettings(deps, change, { settings: change.request, logos: {} })

/**
 * Saves what Settings → Branding and UI hold: absent fields stay, an empty logo goes. It shows wherever the theme is
 * read next.
 *
 * @returns the new version's ETag.
 * @throws err.changedMeanwhile
 */
export function customize(deps: Pick<Deps, 'db'>, change: Change<CustomizeChange>): Promise<string> {
  const { Logo, LightModeLogo, ...settings } = change.request
  return changeSettings(deps, change, { settings, logos: { Logo, LightModeLogo } })
}

/** Writes changed settings and tells the audit log their names, never their values. */
export async function saveSettings(tx: Kysely<DB>, changes: SettingChanges, acting: Acting): Promise<void> {
  await writeSettings(tx, changes, acting.by)
  await auditSettings(tx, Object.keys(changes), acting)
}

/** What is wanted of each; undefined stays. */
type Wanted = {
  settings: { [Name in keyof Settings]?: Settings[Name] | undefined }
  logos: { [Name in LogoName]?: string | undefined }
}

async function changeSettings(
  { db }: Pick<Deps, 'db'>,
  { ifMatch, ...acting }: Acting & { ifMatch: string | null },
  { settings, logos }: Wanted,
): Promise<string> {
  return inTransaction(db.grants, async (tx) => {
    await lockSettings(tx)
    const before = await readSettingsAnswer(tx)
    checkUnchanged(ifMatch, settingsEtag(before))
    const changes = keepDifferent(before, settings)
    await writeSettings(tx, changes, acting.by)
    const changedLogos = await writeLogos(tx, logos, acting.by)
    await auditSettings(tx, [...Object.keys(changes), ...changedLogos], acting)
    return settingsEtag(await readSettingsAnswer(tx))
  })
}

const keepDifferent = (before: Settings, wanted: Wanted['settings']): SettingChanges =>
  Object.fromEntries(
    Object.entries(wanted).flatMap(([name, value]) =>
      value === undefined || value === before[name as keyof Settings] ? [] : [[name, value]],
    ),
  )

/** @returns the names of the logos that are other ones now. */
async function writeLogos(tx: Kysely<DB>, logos: Wanted['logos'], by: string): Promise<LogoName[]> {
  const changed: LogoName[] = []
  for (const name of logoNames) {
    const text = logos[name]
    if (text === undefined) continue
    const image = text === '' ? null : readLogo(text)
    if (typeof image === 'string') throw new Error(`The wire's schema let a logo through: ${image}`)
    if (await writeLogo(tx, { name, image, by })) changed.push(name)
  }
  return changed
}

async function auditSettings(
  tx: Kysely<DB>,
  fields: readonly string[],
  { by, requestId }: Acting,
): Promise<void> {
  if (fields.length === 0) return
  const event = { kind: 'UpdateSettings', fields: { AdminName: by, Description: fields.join(', ') } } as const
  await writeAudit(tx, [{ ...event, detail: { fields } }], requestId)
}
