import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { LogoImage, LogoName } from './logo.schema.ts'

/** Writes a logo, or takes it away. @returns whether that changed anything. */
export async function writeLogo(
  tx: Kysely<DB>,
  { name, image, by }: { name: LogoName; image: LogoImage | null; by: string },
): Promise<boolean> {
  if (image === null) {
    const { numDeletedRows } = await tx.deleteFrom('logos').where('name', '=', name).executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }
  const { mediaType, bytes } = image
  const hash = createHash('sha256').update(bytes).digest('hex')
  const { numAffectedRows } = await sql`
    insert into logos (name, media_type, bytes, hash, last_modified_by)
    values (${name}, ${mediaType}, ${Buffer.from(bytes)}, ${hash}, ${by})
    on conflict (name) do update set media_type = excluded.media_type, bytes = excluded.bytes, hash = excluded.hash,
      last_modified_by = excluded.last_modified_by, last_modified_at = clock_timestamp()
      where logos.hash <> excluded.hash`.execute(tx)
  return (numAffectedRows ?? 0n) > 0n
}
