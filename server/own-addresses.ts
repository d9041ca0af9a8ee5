import { networkInterfaces } from 'node:os'

/** Interfaces are read at most this often, in milliseconds. */
const freshMs = 10_000

/** The addresses of this host, which no door is ever opened for (decision 8): a function, as they change. */
export function listOwnAddresses(): () => readonly string[] {
  let readAt = Number.NEGATIVE_INFINITY
  let addresses: string[] = []
  return function ownAddresses() {
    if (performance.now() - readAt > freshMs) {
      addresses = Object.values(networkInterfaces()).flatMap((list) =>
        (list ?? []).map(({ address }) => address.split('%')[0] ?? address),
      )
      readAt = performance.now()
    }
    return addresses
  }
}
