import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Ports of this machine that nothing listens on at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(close))
  return ports
}

/** Takes a port, as another program does; call what it answers to give it back. */
export async function takePort(port: number): Promise<() => Promise<void>> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return () => close(server)
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await closed
}
