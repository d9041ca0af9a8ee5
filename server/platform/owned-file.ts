import { randomBytes } from 'node:crypto'
import { chmod, link, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Reads a file of the data folder that only its owner may read (0600), or makes it once from `create`.
 * It is whole or not there, whatever moment the process dies at, and of two processes that make it at once
 * both get the same content.
 *
 * @throws Error when others may read it.
 */
export async function readOrCreateOwnedFile(path: string, create: () => string): Promise<string> {
  return (await findOwnedFile(path)) ?? (await createOwnedFile(path, create()))
}

async function findOwnedFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path)
    if ((mode & 0o077) !== 0)
      throw new Error(`${path} may be read by others; make it 0600 and draw a new one if it leaked.`)
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function createOwnedFile(path: string, content: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(`${content}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(draft, 0o600)
    // A link is refused when the name exists: the first of two writers wins, and nobody sees half a file.
    await link(draft, path)
    await syncFolder(dirname(path))
    return content
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
    return (await findOwnedFile(path)) ?? content
  } finally {
    await rm(draft, { force: true })
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}
