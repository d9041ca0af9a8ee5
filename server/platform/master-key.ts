import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readOrCreateOwnedFile } from './owned-file.ts'
import { Secret } from './secret.ts'

/**
 * The master key of the embedded mode: drawn once, kept in `master.key` in the data folder (0600). A cluster
 * must be given one instead, or each replica would make its own (decision 38).
 */
export async function readOrCreateMasterKey(dataDir: string): Promise<Secret> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const key = await readOrCreateOwnedFile(join(dataDir, 'master.key'), () =>
    randomBytes(32).toString('base64'),
  )
  if (Buffer.from(key, 'base64').length !== 32)
    throw new Error(`${join(dataDir, 'master.key')} does not hold 32 bytes in base64.`)
  return new Secret(key)
}
