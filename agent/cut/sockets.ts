import { run } from '../command.ts'
import type { DriverError } from '../drivers/driver.ts'
import { createTurns } from '../turns.ts'
import type { PortRange } from './rules/rule.ts'

/** Ends sockets of this host by `ss -K`: both ends of a flow are told at once, also when it is silent. */
export type SocketEnder = {
  /**
   * Ends what these addresses have on these local ports. One run at a time on a host; `isShut` is asked when an
   * address's run begins, as somebody may have been let in again meanwhile.
   */
  end: (
    addresses: readonly string[],
    ports: readonly PortRange[],
    isShut?: (address: string) => boolean,
  ) => Promise<DriverError | null>
  /** Ports that somebody listens on here. */
  listening: () => Promise<PortRange[]>
  /** Whether the kernel does it (CONFIG_INET_DIAG_DESTROY); null while that is not known. */
  canEnd: () => boolean | null
}

/** Addresses in one run: the kernel's filter holds 64 KiB, and each is asked for every socket. */
const addressesAtOnce = 200
const timeoutMs = 10_000

/** Builds it; `canEnd` is what is known already. */
export function createSocketEnder(deps: { ss: string | undefined; canEnd: boolean | null }): SocketEnder {
  const { ss } = deps
  let { canEnd } = deps
  const inTurn = createTurns()

  const ask = (program: string, flags: string, words: readonly string[]) =>
    run(program, [flags, ...words], { timeoutMs, maxOutputBytes: 8_388_608 })

  const endSome = async (program: string, filter: string): Promise<DriverError | null> => {
    // A kernel that can't do it says nothing; what is still there tells, unless it has come in between.
    for (const attempt of [1, 2]) {
      const ended = await ask(program, '-tnHK', ['state', 'connected', filter])
      if (!ended.ok) return toError(ended)
      if (ended.stdout.trim() !== '') canEnd = true
      if (canEnd === true) return null
      const left = await ask(program, '-tnH', ['state', 'established', filter])
      if (!left.ok || left.stdout.trim() === '') return null
      canEnd = attempt === 2 ? false : canEnd
    }
    return cannotEnd
  }

  return {
    listening: async () => (ss === undefined ? [] : readListening(ss)),
    canEnd: () => (ss === undefined ? false : canEnd),
    end: async (addresses, ports, isShut = () => true) => {
      if (ss === undefined) return noProgram
      if (canEnd === false) return cannotEnd
      if (ports.length === 0) return null
      for (let index = 0; index < addresses.length; index += addressesAtOnce) {
        const error = await inTurn(async () => {
          const shut = addresses.slice(index, index + addressesAtOnce).filter(isShut)
          return shut.length === 0 ? null : endSome(ss, toFilter(shut, ports))
        })
        if (error !== null) return error
      }
      return null
    },
  }
}

const noProgram: DriverError = { code: 'programMissing', text: 'ss is not installed (package iproute2)' }
const cannotEnd: DriverError = {
  code: 'unknown',
  text: 'this kernel can’t end sockets (CONFIG_INET_DIAG_DESTROY is off)',
}

function toError({ fault, stderr }: { fault: string | null; stderr: string }): DriverError {
  if (fault === 'timeout') return { code: 'timeout', text: 'ss did not end the sockets in time' }
  if (fault === 'start') return { code: 'programMissing', text: 'ss could not be started' }
  const isRight = /not permitted|permission/i.test(stderr)
  return { code: isRight ? 'permission' : 'unknown', text: `ss: ${stderr.trim().slice(0, 300)}` }
}

async function readListening(ss: string): Promise<PortRange[]> {
  const { stdout } = await run(ss, ['-tlnH'], { timeoutMs, maxOutputBytes: 1_048_576 })
  const ports = stdout
    .split('\n')
    .map((line) => Number(/:(\d+)$/.exec(line.trim().split(/\s+/)[3] ?? '')?.[1]))
  return [...new Set(ports)].filter((port) => port > 0).map((port) => [port, port] as const)
}

/** ss's own language; addresses were parsed before, so that nothing else can be in there. */
export function toFilter(addresses: readonly string[], ports: readonly PortRange[]): string {
  const who = addresses.map((address) => `dst ${bracketed(address)}`)
  const where = ports.map(([from, to]) =>
    from === to ? `sport = :${from}` : `( sport ge :${from} and sport le :${to} )`,
  )
  return `( ${who.join(' or ')} ) and ( ${where.join(' or ')} )`
}

function bracketed(address: string): string {
  if (!address.includes(':')) return address
  const [host, prefix] = address.split('/')
  return prefix === undefined ? `[${host}]` : `[${host}]/${prefix}`
}
