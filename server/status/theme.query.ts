import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { readLogoAddresses } from '../settings/logo.query.ts'
import { readSettings } from '../settings/setting.query.ts'
import type { Theme } from './status.schema.ts'

/** Accent, contrast and logos of the installation. */
export async function readTheme(db: Kysely<DB>): Promise<Theme> {
  const [{ Accent, HighAccessibility }, logos] = await Promise.all([readSettings(db), readLogoAddresses(db)])
  return { Accent, HighAccessibility, ...logos }
}
