import ipaddr from 'ipaddr.js'
import { run } from '../command.ts'
import type { DriverError } from '../drivers/driver.ts'
import type { PortRange } from './rules/rule.ts'

/** Makes the kernel forget flows, by `conntrack -D`; what then becomes of them is up to the rules. */
export type FlowForgetter = { forget: (flows: Departing) => Promise<DriverError | null> }

/** Whose flows: of these addresses, to these ports of services (as the service knows them, after any DNAT). */
type Departing = {
  family: 4 | 6
  protocol: 'tcp' | 'udp'
  addresses: readonly string[]
  ports: readonly PortRange[]
}

/** Flows in one run: each costs a walk through the kernel's table, 44 ms where that has 20,000 flows. */
const flowsAtOnce = 100
const fewCommands = 4
const limits = { timeoutMs: 20_000, maxOutputBytes: 67_108_864 } as const

type Flow = { source: string; destination: string; sourcePort: number; port: number; servicePort: number }

/** Builds it. */
export function createFlowForgetter(conntrack: string | undefined): FlowForgetter {
  /** `--load-file` came with conntrack 1.4.7; before, or when it may not open its own input, each flow is a run. */
  let takesFiles = true

  const forgetSome = async (program: string, lines: readonly string[]): Promise<DriverError | null> => {
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

  return {
    forget: async ({ family, protocol, addresses, ports }) => {
      if (conntrack === undefined) {
        return { code: 'programMissing', text: 'conntrack is not installed (package conntrack)' }
      }
      const simple = toPlainCommands({ family, protocol, addresses, ports })
      if (simple !== null) return forgetSome(conntrack, simple)
      const args = ['-L', '-f', family === 4 ? 'ipv4' : 'ipv6', '-p', protocol]
      const listed = await run(conntrack, args, limits)
      if (!listed.ok) return toError(listed)
      const isOneOf = createMatcher(addresses)
      const doomed = parseFlows(listed.stdout).filter(
        ({ source, servicePort }) =>
          isOneOf(source) && ports.some(([from, to]) => from <= servicePort && servicePort <= to),
      )
      for (let index = 0; index < doomed.length; index += flowsAtOnce) {
        const lines = doomed
          .slice(index, index + flowsAtOnce)
          .map((flow) => toCommand(flow, family, protocol))
        const error = await forgetSome(conntrack, lines)
        if (error !== null) return error
      }
      return null
    },
  }
}

/** For a few people at a few ports the kernel's table needs no reading before; else null. */
function toPlainCommands({ family, protocol, addresses, ports }: Departing): string[] | null {
  if (addresses.length * ports.length > fewCommands) return null
  if (ports.some(([from, to]) => from !== to)) return null
  return addresses.flatMap((address) =>
    ports.map(([port]) => `-D -f ipv${family} -p ${protocol} -s ${address} --reply-port-src ${port}`),
  )
}

/** Each line has the addresses and ports twice, as the flow began and as its answers go. */
export function parseFlows(text: string): Flow[] {
  return text.split('\n').flatMap((line) => {
    const read = (key: string) =>
      Array.from(line.matchAll(new RegExp(` ${key}=(\\S+)`, 'g')), ([, value]) => value)
    const [[source], [destination], [sourcePort, servicePort], [port]] = [
      read('src'),
      read('dst'),
      read('sport'),
      read('dport'),
    ]
    if (source === undefined || destination === undefined || servicePort === undefined) return []
    return [
      {
        source,
        destination,
        sourcePort: Number(sourcePort),
        port: Number(port),
        servicePort: Number(servicePort),
      },
    ]
  })
}

const toCommand = (flow: Flow, family: 4 | 6, protocol: string): string =>
  `-D -f ipv${family} -p ${protocol} -s ${flow.source} -d ${flow.destination} --sport ${flow.sourcePort} --dport ${flow.port}`

function createMatcher(addresses: readonly string[]): (address: string) => boolean {
  const hosts = new Set(addresses.filter((address) => !address.includes('/')))
  const networks = addresses.filter((address) => address.includes('/')).map((text) => ipaddr.parseCIDR(text))
  return (address) => {
    if (hosts.has(address)) return true
    if (networks.length === 0 || !ipaddr.isValid(address)) return false
    const parsed = ipaddr.parse(address)
    return networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match([network, bits]),
    )
  }
}

function toError({ fault, stderr }: { fault: string | null; stderr: string }): DriverError {
  if (fault === 'timeout') return { code: 'timeout', text: 'conntrack did not answer in time' }
  const isRight = /not permitted|permission|root/i.test(stderr)
  return { code: isRight ? 'permission' : 'unknown', text: `conntrack: ${stderr.trim().slice(0, 300)}` }
}
