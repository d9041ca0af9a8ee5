import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { type LogoImage, type LogoName, logoNames } from './logo.schema.ts'

/** Where each logo is read; null for one that isn't there. */
export async function readLogoAddresses(db: Kysely<DB>): Promise<Record<LogoName, string | null>> {
  const rows = await db.selectFrom('logos').select(['name', 'hash']).execute()
  const addressOf = (name: LogoName) => {
    const hash = rows.find((row) => row.name === name)?.hash
    return [name, hash === undefined ? null : toLogoAddress(hash)]
  }
  return Object.fromEntries(logoNames.map(addressOf)) as Record<LogoName, string | null>
}

/** The address names the picture itself: another picture has another one, so browsers may keep it for ever. */
export const toLogoAddress = (hash: string): string => `/api/theme/logo/${hash}`

/** The logo of this hash; undefined when there is none, or no longer. */
export async function findLogo(db: Kysely<DB>, hash: string): Promise<LogoImage | undefined> {
  const row = await db
    .selectFrom('logos')
    .select(['mediaType', 'bytes'])
    .where('hash', '=', hash)
    .limit(1)
    .executeTakeFirst()
  return row && { mediaType: row.mediaType as LogoImage['mediaType'], bytes: Uint8Array.from(row.bytes) }
}
