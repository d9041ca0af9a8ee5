import { accessSync, constants } from 'node:fs'

const folders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin']

/** System programs the agent may run, and nothing else; the launcher allows these by their full paths. */
export type ProgramName =
  | 'ipset'
  | 'iptables-save'
  | 'ip6tables-save'
  | 'iptables-nft-save'
  | 'ip6tables-nft-save'
  | 'iptables-legacy-save'
  | 'ip6tables-legacy-save'
  | 'nft'
  | 'ss'
  | 'conntrack'
  | 'sysctl'
  | 'systemctl'

/** Full path of a system program, or undefined where it is not installed. PATH is not asked. */
export function findProgram(name: ProgramName): string | undefined {
  return folders.map((folder) => `${folder}/${name}`).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
