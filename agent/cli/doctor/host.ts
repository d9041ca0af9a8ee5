import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentConfig } from '../../config.ts'
import { readCutFaults } from '../../cut/cut-faults.ts'
import { type HostRules, readHostRules } from '../../cut/read-rules.ts'
import type { DriverError } from '../../drivers/driver.ts'
import { readSets, type SetFacts } from '../../drivers/ipset-set.ts'
import { openJournal } from '../../journal.ts'
import { openManagedSets } from '../../managed-sets.ts'
import { findProgram } from '../../programs.ts'

/** What the doctor looks at: the host's sets, those the agent looks after, and the rules. */
export type Host = {
  /** Null where ipset is not installed. */
  sets: SetFacts[] | DriverError | null
  managed: readonly string[]
  rules: HostRules
  /** What the agent could not do lately, as it wrote it down. */
  cutFaults: readonly { list: string; text: string }[]
}

/** Reads all of it once. */
export async function readHost(config: AgentConfig): Promise<Host> {
  const ipset = findProgram('ipset')
  return {
    sets: ipset === undefined ? null : await readSets(ipset),
    managed: openManagedSets(join(config.dataFolder, 'sets.json'), config.managedSets)
      .all()
      .map(({ name }) => name),
    rules: await readHostRules({ find: findProgram, canEndSockets: config.canEndSockets }),
    cutFaults: readFaults(join(config.dataFolder, 'journal.db')),
  }
}

function readFaults(path: string): Host['cutFaults'] {
  if (!existsSync(path)) return []
  try {
    const journal = openJournal(path)
    const faults = readCutFaults(journal)
    journal.close()
    return faults
  } catch {
    // A journal that can't be read says nothing of connections; the agent sets it aside at its next start.
    return []
  }
}
