import ipaddr from 'ipaddr.js'
import { run } from '../command.ts'
import type { DriverError } from '../drivers/driver.ts'
import { createTurns } from '../turns.ts'
import type { PortRange } from './rules/rule.ts'

/** Makes the kernel forget flows, by `conntrack -D`; what then becomes of them is up to the rules. */
export type FlowForgetter = {
  /** One run at a time on a host, so that whoever has few to forget waits for no long list. */
  forget: (flows: Departing) => Promise<DriverError | null>
}

/** Whose flows: of these addresses, to these ports of services (as the service knows them, after any DNAT). */
type Departing = {
  family: 4 | 6
  protocol: 'tcp' | 'udp'
  addresses: readonly string[]
  ports: readonly PortRange[]
  /** Asked when an address's run begins, as somebody may have been let in again meanwhile. */
  isShut?: (address: string) => boolean
}

/** One command: it forgets what comes from one host and goes to one port; `address` is the entry that left. */
type Forgetting = { address: string; source: string; port: number }

/**
 * Each command walks through the kernel's whole table, whatever it finds: 10 ms where that is nearly empty, 20 to
 * 45 ms with 5,000 to 20,000 flows. So no more are told than have flows, and a run ends within half a second or so.
 */
const commandsAtOnce = 16
/** So few need no reading of the table before. */
const fewCommands = 4
const limits = { timeoutMs: 20_000, maxOutputBytes: 67_108_864 } as const

/** A flow's source, and the port its answers come from. */
type Flow = { source: string; servicePort: number }

/** Builds it. */
export function createFlowForgetter(conntrack: string | undefined): FlowForgetter {
  /** `--load-file` came with conntrack 1.4.7; before, or when it may not open its own input, each command is a run. */
  let takesFiles = true
  const inTurn = createTurns()

  const runAll = async (program: string, lines: readonly string[]): Promise<DriverError | null> => {
    if (takesFiles) {
      const result = await run(program, ['-R', '-'], { ...limits, input: `${lines.join('\n')}\n` })
      if (result.ok) return null
      if (!/unknown option|invalid option|unrecognized|bad command|failed to open file/i.test(result.stderr))
        return toError(result)
      takesFiles = false
    }
    for (const line of lines) {
      const result = await run(program, line.split(' '), limits)
      // 1: none was there any more.
      if (!result.ok && result.exitCode !== 1) return toError(result)
    }
    return null
  }

  const readFlows = async (program: string, departing: Departing): Promise<Forgetting[] | DriverError> => {
    const { family, protocol, ports } = departing
    const found: Forgetting[] = []
    for (const filter of toFilters(ports)) {
      const args = ['-L', '-f', `ipv${family}`, '-p', protocol, ...filter]
      const listed = await inTurn(() => run(program, args, limits))
      if (!listed.ok) return toError(listed)
      found.push(...findForgettings(parseFlows(listed.stdout), departing))
    }
    return found
  }

  return {
    forget: async (departing) => {
      if (conntrack === undefined) {
        return { code: 'programMissing', text: 'conntrack is not installed (package conntrack)' }
      }
      const { family, protocol, isShut = () => true } = departing
      const all = toPlainForgettings(departing) ?? (await readFlows(conntrack, departing))
      if (!Array.isArray(all)) return all
      for (let index = 0; index < all.length; index += commandsAtOnce) {
        const error = await inTurn(async () => {
          const shut = all.slice(index, index + commandsAtOnce).filter(({ address }) => isShut(address))
          const lines = shut.map(
            ({ source, port }) => `-D -f ipv${family} -p ${protocol} -s ${source} --reply-port-src ${port}`,
          )
          return lines.length === 0 ? null : runAll(conntrack, lines)
        })
        if (error !== null) return error
      }
      return null
    },
  }
}

/** For a few people at a few ports the kernel's table needs no reading before; else null. */
function toPlainForgettings({ addresses, ports }: Departing): Forgetting[] | null {
  const areFew = addresses.length * ports.length <= fewCommands && ports.every(([from, to]) => from === to)
  if (!areFew) return null
  return addresses.flatMap((address) => ports.map(([port]) => ({ address, source: address, port })))
}

/** Of a large table only what goes to the door's ports is printed, where those are few. */
function toFilters(ports: readonly PortRange[]): string[][] {
  const areFew = ports.length <= fewCommands && ports.every(([from, to]) => from === to)
  return areFew ? ports.map(([port]) => ['--reply-port-src', String(port)]) : [[]]
}

/** Everything a host has at a port goes by one command, however many flows that are. */
function findForgettings(flows: readonly Flow[], { addresses, ports }: Departing): Forgetting[] {
  const entryOf = createEntryFinder(addresses)
  const found = new Map<string, Forgetting>()
  for (const { source, servicePort } of flows) {
    if (!ports.some(([from, to]) => from <= servicePort && servicePort <= to)) continue
    const address = entryOf(source)
    if (address !== undefined) found.set(`${source} ${servicePort}`, { address, source, port: servicePort })
  }
  return [...found.values()]
}

/** Each line has the addresses and ports twice, as the flow began and as its answers go. */
function parseFlows(text: string): Flow[] {
  return text.split('\n').flatMap((line) => {
    const source = / src=(\S+)/.exec(line)?.[1]
    const answersFrom = / sport=\d+ .* sport=(\d+)/.exec(line)?.[1]
    return source === undefined || answersFrom === undefined
      ? []
      : [{ source, servicePort: Number(answersFrom) }]
  })
}

/** Which of these addresses and networks a host belongs to. */
function createEntryFinder(addresses: readonly string[]): (host: string) => string | undefined {
  const hosts = new Set(addresses.filter((address) => !address.includes('/')))
  const networks = addresses
    .filter((address) => address.includes('/'))
    .map((text) => ({ text, parsed: ipaddr.parseCIDR(text) }))
  return (host) => {
    if (hosts.has(host)) return host
    if (networks.length === 0 || !ipaddr.isValid(host)) return undefined
    const address = ipaddr.parse(host)
    return networks.find(({ parsed: [network, bits] }) => {
      return network.kind() === address.kind() && address.match([network, bits])
    })?.text
  }
}

function toError({ fault, stderr }: { fault: string | null; stderr: string }): DriverError {
  if (fault === 'timeout') return { code: 'timeout', text: 'conntrack did not answer in time' }
  const isRight = /not permitted|permission|root/i.test(stderr)
  return { code: isRight ? 'permission' : 'unknown', text: `conntrack: ${stderr.trim().slice(0, 300)}` }
}
