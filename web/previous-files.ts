import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A build's hashed files by name, such as `assets/main-1a2b.js`, and the hash over both bundles. */
export type HashedFiles = { hash: string; files: ReadonlyMap<string, Uint8Array> }

/**
 * Where a build keeps the hashed files of the release before it. Pages that are open during an upgrade, and those of
 * a server that isn't upgraded yet, still ask for them (decision 35).
 */
export const previousFolder = 'previous'

/** What the release before the coming build consists of; empty when there was none. */
export type Earlier = { last: HashedFiles | null; beforeLast: HashedFiles | null }

/** Reads what a build is about to replace, with what that had kept itself. */
export async function readEarlier(outDir: string): Promise<Earlier> {
  return { last: await readHashed(outDir), beforeLast: await readHashed(join(outDir, previousFolder)) }
}

/** The release before the one with this hash: a build that changed nothing is no release. */
export const previousOf = ({ last, beforeLast }: Earlier, hash: string): HashedFiles | null =>
  last?.hash === hash ? beforeLast : last

async function readHashed(folder: string): Promise<HashedFiles | null> {
  try {
    const hash = (await readFile(join(folder, 'bundle-hash.txt'), 'utf8')).trim()
    const names = await readdir(join(folder, 'assets'))
    const files = await Promise.all(
      names.map(
        async (name) =>
          [`assets/${name}`, new Uint8Array(await readFile(join(folder, 'assets', name)))] as const,
      ),
    )
    return { hash, files: new Map(files) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
