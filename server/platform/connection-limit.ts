import type { Socket } from 'node:net'
import { createAddressMatcher, findAddress, toClientKey } from './http/ip-address.ts'

/** Makes a listener of new connections that closes those beyond what one address may hold at once. */
export function createConnectionLimit({
  perAddress,
  exempt,
}: {
  perAddress: number
  /** Trusted proxies hold the connections of everybody. */
  exempt: readonly string[]
}): (socket: Socket) => void {
  const held = new Map<string, number>()
  const isExempt = createAddressMatcher(exempt)
  return function count(socket) {
    const address = findAddress(socket.remoteAddress ?? '')?.address
    if (address === undefined || isExempt(address)) return
    const key = toClientKey(address)
    const standing = held.get(key) ?? 0
    if (standing >= perAddress) {
      socket.destroy()
      return
    }
    held.set(key, standing + 1)
    socket.once('close', () => {
      const left = (held.get(key) ?? 1) - 1
      if (left === 0) held.delete(key)
      else held.set(key, left)
    })
  }
}
