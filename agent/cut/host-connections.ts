import type { IpsetPipe } from '../drivers/ipset-pipe.ts'
import { readSets } from '../drivers/ipset-set.ts'
import type { ManagedSets } from '../managed-sets.ts'
import { type Connections, createConnections } from './connections.ts'
import { createFlowForgetter } from './flows.ts'
import { createRulesCache } from './host-rules.ts'
import { type FindProgram, readHostRules } from './read-rules.ts'
import { createSocketEnder } from './sockets.ts'

/** Puts together what ends flows on this host. `canEndSockets` is null where nobody has tried. */
export function createHostConnections(host: {
  find: FindProgram
  canEndSockets: boolean | null
  pipe: Pick<IpsetPipe, 'run'>
  sets: Pick<ManagedSets, 'all'>
}): Connections {
  const { find, pipe } = host
  const sockets = createSocketEnder({ ss: find('ss'), canEnd: host.canEndSockets })
  return createConnections({
    rules: createRulesCache(() => readHostRules({ find, canEndSockets: sockets.canEnd() })),
    sockets,
    flows: createFlowForgetter(find('conntrack')),
    membersOf: async (sets, addresses) => {
      const answers = await pipe.run(
        addresses.flatMap((address) => sets.map((set) => [`test ${set} ${address}`])),
      )
      const held = addresses.map((_, row) =>
        sets.filter((_set, column) => saysMember(answers[row * sets.length + column] ?? [])),
      )
      return new Map(
        sets.map((set) => [set, new Set(addresses.filter((_, row) => held[row]?.includes(set)))] as const),
      )
    },
    isReferenced: async (set) => {
      const ipset = find('ipset')
      const facts = ipset === undefined ? [] : await readSets(ipset, set)
      return Array.isArray(facts) && facts.some(({ references }) => references > 0)
    },
    managedSets: () => host.sets.all().map(({ name }) => name),
  })
}

const saysMember = (lines: readonly string[]): boolean => lines.some((line) => / is in set /.test(line))
