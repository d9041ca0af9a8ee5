import type { AgentConfig } from '../config.ts'
import type { ExitCode } from './command-line.ts'
import { checkBoot } from './doctor/boot.ts'
import { checkConnections } from './doctor/connections.ts'
import type { Finding } from './doctor/finding.ts'
import { readHost } from './doctor/host.ts'
import { checkScripts } from './doctor/scripts.ts'
import { checkSets } from './doctor/sets.ts'

/** `knoc-agent doctor`: looks at this host and says what keeps doors from opening, or holds them open. */
export async function doctor(config: AgentConfig): Promise<ExitCode> {
  const host = await readHost(config)
  const findings = [
    ...checkSets(host),
    ...checkConnections(host),
    ...(await checkBoot()),
    checkScripts(config),
  ]
  for (const finding of findings) print(finding)
  return findings.every(({ ok }) => ok) ? 0 : 1
}

function print({ ok, text, remedy }: Finding): void {
  console.log(`${ok ? 'ok   ' : 'WRONG'} ${text}`)
  if (remedy !== undefined) console.log(`      → ${remedy}`)
}
