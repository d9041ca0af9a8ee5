import { renameSync, writeFileSync } from 'node:fs'

/** What an agent's process reads of its host's clocks. */
export type ClockFile = { wallOffsetMs: number; bootId: string; bootedAtMs: number }

/** Written beside and moved, so that nobody reads half of it. */
export function writeClockFile(path: string, clock: ClockFile): void {
  writeFileSync(`${path}.new`, JSON.stringify(clock))
  renameSync(`${path}.new`, path)
}
