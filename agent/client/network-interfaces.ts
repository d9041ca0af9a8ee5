import { networkInterfaces } from 'node:os'

/**
 * This host's own addresses as one text, in a fixed order: another text means that the network has changed. Addresses
 * that mean nothing elsewhere (loopback, link-local) are left out, for they come and go with any container.
 */
export function readHostAddresses(): string {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^(fe[89ab]|169\.254\.)/i.test(address))
    .map(({ address }) => address)
    .toSorted()
    .join(' ')
}
