import type { AgentConfig } from '../../config.ts'
import { listScripts } from '../../drivers/script.ts'
import type { Finding } from './finding.ts'

/** Whether scripts are allowed, and which are there. */
export function checkScripts(config: AgentConfig): Finding {
  if (config.scriptFolder === undefined) return { ok: true, text: 'scripts are off' }
  const scripts = listScripts(config.scriptFolder)
  if (scripts.length > 0) return { ok: true, text: `scripts: ${scripts.join(', ')}` }
  const remedy = `put executable files there that only their owner may change, and start the agent again`
  return { ok: false, text: `no usable script in ${config.scriptFolder}`, remedy }
}
