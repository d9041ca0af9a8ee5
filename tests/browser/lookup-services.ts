import { createServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'

/** A lookup service of a test: what it answers, after how long; a blocked one takes connections and says nothing. */
export type LookupAnswer = { text: string; afterMs?: number } | 'blocked'

/** Services on ports of this host, as browsers see lookup ports: whom they were asked by is in `asked`. */
export type LookupServices = Awaited<ReturnType<typeof startLookupServices>>

/** Starts one service for each lookup port that is named. */
export async function startLookupServices(answers: Record<number, LookupAnswer>) {
  const asked: string[] = []
  const started = await Promise.all(
    Object.entries(answers).map(async ([port, answer]) => {
      const server = answer === 'blocked' ? createTcpServer(() => {}) : answering(Number(port), answer, asked)
      return { server, ports: { Port: Number(port), At: await listen(server) } }
    }),
  )
  return {
    /** As the system status tells of them. */
    ports: started.map(({ ports }) => ports),
    /** Lookup port and query of each request. */
    asked,
    close: () => Promise.all(started.map(({ server }) => close(server))),
  }
}

function answering(
  port: number,
  { text, afterMs = 0 }: Exclude<LookupAnswer, 'blocked'>,
  asked: string[],
): HttpServer {
  return createServer(({ url = '' }, response) => {
    asked.push(`${port} ${url}`)
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/plain' })
    setTimeout(() => response.end(text), afterMs)
  })
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )

function close(server: Server | HttpServer): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections()
  server.unref()
  return new Promise((resolve) => {
    server.close(() => resolve())
    // Whoever waits for a blocked port holds its connection.
    setTimeout(resolve, 500)
  })
}
