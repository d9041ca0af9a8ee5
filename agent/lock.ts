import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Takes the data folder for this process. SQLite's exclusive lock is the kernel's, so it goes with the process
 * however that ends; no stale file is ever left that somebody must remove.
 *
 * @returns a function that gives the folder back, or undefined when another agent has it.
 */
export function lockDataFolder(folder: string): (() => void) | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(join(folder, 'agent.lock'))
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return () => db.close()
  } catch {
    db.close()
    return undefined
  }
}
