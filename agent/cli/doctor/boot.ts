import { run } from '../../command.ts'
import { findProgram } from '../../programs.ts'
import type { Finding } from './finding.ts'

/** Services that load rulesets; each must come after the sets are made. */
const rulesetUnits = ['netfilter-persistent.service', 'nftables.service', 'firewalld.service']

/** Whether the sets are made before any ruleset is loaded at boot. */
export async function checkBoot(): Promise<Finding[]> {
  const systemctl = findProgram('systemctl')
  const shown =
    systemctl &&
    (await run(systemctl, ['show', 'knoc-sets.service', '-p', 'UnitFileState,Before'], { timeoutMs: 10_000 }))
  if (!shown || !shown.ok) {
    return [{ ok: true, text: 'boot order not looked at: this host is not run by systemd' }]
  }
  const remedy = 'install deploy/agent/knoc-sets.service, then: systemctl enable knoc-sets.service'
  if (!/^UnitFileState=enabled/m.test(shown.stdout)) {
    return [
      {
        ok: false,
        text: 'knoc-sets.service is not enabled: after a reboot rules that name a set are refused',
        remedy,
      },
    ]
  }
  const before = /^Before=(.*)$/m.exec(shown.stdout)?.[1]?.split(' ') ?? []
  const late = rulesetUnits.filter((unit) => !before.includes(unit))
  if (late.length > 0)
    return [{ ok: false, text: `knoc-sets.service doesn’t come before ${late.join(', ')}`, remedy }]
  return [{ ok: true, text: 'knoc-sets.service comes before the firewall’s services' }]
}
