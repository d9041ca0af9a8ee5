import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { createKeyPair } from '#server/auth/saml/key-pair.ts'

/** What speaks TLS to browsers and plain text to a server, byte for byte. */
export type TlsFront = { origin: string; pointTo: (port: number) => void; stop: () => Promise<void> }

/** Starts it on `https://localhost`, with a certificate that nobody knows. */
export async function startTlsFront(): Promise<TlsFront> {
  const { key, certificate } = await createKeyPair('localhost')
  const ends = new Set<() => void>()
  let port = 0
  const server = createServer({ key, cert: certificate }, (outside) => {
    const inside = connect(port, '127.0.0.1')
    const end = () => {
      ends.delete(end)
      outside.destroy()
      inside.destroy()
    }
    ends.add(end)
    for (const socket of [outside, inside]) socket.on('error', end).on('close', end)
    outside.pipe(inside)
    inside.pipe(outside)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    pointTo: (to) => {
      port = to
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const end of ends) end()
      }),
  }
}
