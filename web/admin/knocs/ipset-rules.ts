/** What the guidance for one Linux knoc is made from. */
export type GuidedSets = { v4: string | undefined; v6: string | undefined; port: number }

/** Ports of the schemes that an entry's URL may have without naming one. */
const schemePorts: Readonly<Record<string, number>> = {
  ssh: 22,
  sftp: 22,
  http: 80,
  https: 443,
  rdp: 3389,
  vnc: 5900,
  ldap: 389,
  ldaps: 636,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  redis: 6379,
}

/** Used where the entry's address names no port: the rules are an example then. */
export const examplePort = 22

/** The TCP port that an entry's URL means; undefined when it says nothing. */
export function portOf(url: string): number | undefined {
  const match = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^/@]*@)?(?:\[[^\]]*\]|[^/:?#]*)(?::(\d+))?)?/i.exec(
    url.trim(),
  )
  if (match === null) return undefined
  const port = match[2] === undefined ? schemePorts[match[1]?.toLowerCase() ?? ''] : Number(match[2])
  return port !== undefined && port >= 1 && port <= 65_535 ? port : undefined
}

/** The commands that make the sets: with timeouts, so that the kernel ends entries by itself. */
export const setCommands = ({ v4, v6 }: GuidedSets): string =>
  [
    v4 && `ipset create ${v4} hash:ip family inet timeout 0 -exist`,
    v6 && `ipset create ${v6} hash:ip family inet6 timeout 0 -exist`,
  ]
    .filter(Boolean)
    .join('\n')

/**
 * The firewall rules of one family.
 *
 * The set is asked before the ESTABLISHED rule, and what isn't in it is refused with a reset: so closing ends live
 * connections too, at their next packet (design §3; measured).
 */
export const firewallRules = (program: 'iptables' | 'ip6tables', set: string, port: number): string =>
  [
    `${program} -I INPUT 1 -p tcp --dport ${port} -m set ! --match-set ${set} src -j REJECT --reject-with tcp-reset`,
    `${program} -I INPUT 2 -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`,
    `${program} -I INPUT 3 -p tcp --dport ${port} -m set --match-set ${set} src -j ACCEPT`,
  ].join('\n')

/** Every block of the guidance, in the order to run them. `key` is a translation key below `guide.`. */
export const guidance = (sets: GuidedSets): { key: 'sets' | 'rules4' | 'rules6'; text: string }[] => [
  { key: 'sets', text: setCommands(sets) },
  ...(sets.v4 ? [{ key: 'rules4' as const, text: firewallRules('iptables', sets.v4, sets.port) }] : []),
  ...(sets.v6 ? [{ key: 'rules6' as const, text: firewallRules('ip6tables', sets.v6, sets.port) }] : []),
]
