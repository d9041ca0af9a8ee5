import { join } from 'node:path'
import type { AgentConfig } from '../config.ts'
import { createSet } from '../drivers/ipset-set.ts'
import { openManagedSets } from '../managed-sets.ts'
import { findProgram } from '../programs.ts'
import type { ExitCode } from './command-line.ts'

/**
 * Makes every managed set, empty. Runs before the firewall's rules are loaded: a ruleset that names a missing set
 * is refused as a whole and leaves the host open (decision 13). One set that can't be made doesn't stop the others.
 */
export async function sets(config: AgentConfig, options: { forget: string | undefined }): Promise<ExitCode> {
  const managed = openManagedSets(join(config.dataFolder, 'sets.json'), config.managedSets)
  if (options.forget !== undefined) return forget(managed.forget(options.forget), options.forget)
  const ipset = findProgram('ipset')
  if (ipset === undefined) {
    console.error('knoc-agent: ipset is not installed; install it (apt install ipset) and run this again')
    return managed.all().length === 0 ? 0 : 1
  }
  let code: ExitCode = 0
  for (const set of managed.all()) {
    const error = await createSet(ipset, set)
    if (error === null) continue
    code = 1
    console.error(`knoc-agent: the set ${set.name} cannot be made: ${error.text}`)
  }
  console.log(`${managed.all().length} managed sets`)
  return code
}

function forget(wasKnown: boolean, name: string): ExitCode {
  if (wasKnown) console.log(`${name} is not made any more; the kernel's set itself is left alone`)
  else console.error(`knoc-agent: ${name} is no managed set`)
  return wasKnown ? 0 : 1
}
