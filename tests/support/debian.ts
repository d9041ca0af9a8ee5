import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { getuid } from 'node:process'
import { isCi } from './environment.ts'

/** Programs that real tests need, and the Debian package that brings each. */
const packages = {
  ipset: 'ipset',
  iptables: 'iptables',
  ip6tables: 'iptables',
  'iptables-restore': 'iptables',
  nft: 'nftables',
  conntrack: 'conntrack',
  ip: 'iproute2',
  ss: 'iproute2',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  'redis-server': 'redis-server',
  haproxy: 'haproxy',
  oathtool: 'oathtool',
  slapd: 'slapd',
  ldapwhoami: 'ldap-utils',
  openssl: 'openssl',
} as const

/** A program that tests may ask for. */
export type ProgramName = keyof typeof packages

const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Where a program is installed, if it is. */
export function findProgram(name: ProgramName): string | undefined {
  return folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

/**
 * Whether a real test can run: `describe.skipIf(!requireProgram('ipset'))`. A missing program is said loudly,
 * and in CI it is a failure, so that no test is skipped there without anybody noticing.
 */
export function requireProgram(name: ProgramName): boolean {
  if (findProgram(name) !== undefined) return true
  const message = `${name} is not installed (Debian package ${packages[name]})`
  if (isCi) throw new Error(message)
  console.warn(`SKIPPED: ${message}`)
  return false
}

/** Installs what is missing, when that is possible: as root on Debian. Called once, before any test file. */
export function installMissingPrograms(): void {
  const missing = (Object.keys(packages) as ProgramName[]).filter((name) => findProgram(name) === undefined)
  const names = [...new Set(missing.map((name) => packages[name]))]
  if (
    names.length === 0 ||
    getuid?.() !== 0 ||
    !existsSync('/usr/bin/apt-get') ||
    !existsSync('/etc/debian_version')
  )
    return
  const install = ['install', '--yes', '--no-install-recommends', ...names]
  if (apt(install) || (apt(['update']) && apt(install))) return
  // An older Debian lacks one of them: the others come all the same.
  const failed = names.filter((name) => !apt(['install', '--yes', '--no-install-recommends', name]))
  if (failed.length > 0) console.warn(`apt-get could not install ${failed.join(' ')}`)
}

function apt(args: string[]): boolean {
  const env = { PATH: folders.join(':'), DEBIAN_FRONTEND: 'noninteractive' }
  return (
    spawnSync('/usr/bin/apt-get', ['-q', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status ===
    0
  )
}
