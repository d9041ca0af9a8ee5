import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { Client } from 'ldapts'
import { ApiError, apiError } from '../../errors.ts'
import type { LdapSettings } from '../../settings/auth-setting.query.ts'
import { type DirectoryPlace, parseDirectoryUrl } from './directory-url.ts'
import { type GuardedSocket, guardSocket } from './guarded-socket.ts'

/** From the first packet to the last answer, whatever the server does; a person gets an answer within 5 s. */
const longestMs = 4500

/** Conversations of this process at once: a directory that hangs must not take every socket and every request. */
const mostAtOnce = 100
let going = 0

/** How a conversation is encrypted; ldaps is anyway, and a Unix socket never leaves the host. */
type Channel = Pick<LdapSettings, 'url' | 'startTls' | 'skipVerifyTls'>

/**
 * Talks to the directory over a connection of its own, encrypted before anything is said when the settings ask for
 * it, and closed at the end. Only one connection is made: where ldapts would quietly connect again, without TLS, it
 * fails.
 *
 * @throws err.directoryUnavailable when there is no answer, a late one or none that is LDAP; what `talk` throws is
 * its cause.
 */
export async function withDirectory<Result>(
  { url, startTls, skipVerifyTls }: Channel,
  talk: (client: Client) => Promise<Result>,
): Promise<Result> {
  const place = parseDirectoryUrl(url)
  if (going >= mostAtOnce) throw unavailable(`${mostAtOnce} conversations are waiting for it`)
  going += 1
  const line = openLine(place, skipVerifyTls)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${longestMs} ms`)), longestMs)
  })
  try {
    const client = new Client({ url: 'ldap://directory', ...line.factories })
    const begin = startTls && place.scheme === 'ldap' ? client.startTLS() : Promise.resolve()
    return await Promise.race([begin.then(() => talk(client)), line.broken, late])
  } catch (cause) {
    throw cause instanceof ApiError ? cause : unavailable(String(cause), cause)
  } finally {
    clearTimeout(timer)
    line.close()
    going -= 1
  }
}

/** The error of a directory that can't be asked. */
export const unavailable = (detail: string, cause?: unknown): ApiError =>
  apiError('err.directoryUnavailable', { detail, cause })

/** The one connection of a conversation, as ldapts asks for it, and its end. */
function openLine(place: DirectoryPlace, skipVerifyTls: boolean) {
  const tls = place.scheme === 'ldapi' ? {} : tlsOptions(place.host, skipVerifyTls)
  const open: (GuardedSocket & { socket: Socket })[] = []
  let breakLine: (reason: Error) => void = () => undefined
  const broken = new Promise<never>((_, reject) => {
    breakLine = reject
  })

  function guard(socket: Socket, ready: 'connect' | 'secureConnect'): Duplex {
    const guarding = guardSocket(socket, ready, breakLine)
    open.push({ ...guarding, socket })
    return guarding.guarded
  }

  function createConnection(): Duplex {
    if (open.length > 0) throw new Error('the server closed the connection')
    if (place.scheme === 'ldapi') return guard(connect(place.path), 'connect')
    const { host, port } = place
    if (place.scheme === 'ldap') return guard(connect({ host, port }), 'connect')
    const guarded = guard(connectTls({ ...tls, host, port }), 'secureConnect')
    return guarded.once('secureConnect', () => guarded.emit('connect'))
  }

  /** StartTLS: from here on the plain connection's bytes are TLS's. */
  function createSecureConnection(): Duplex {
    const [plain] = open
    if (plain === undefined) throw new Error('StartTLS without a connection')
    plain.release()
    return guard(connectTls({ ...tls, socket: plain.socket }), 'secureConnect')
  }

  return {
    broken,
    // ldapts uses of a socket what every Duplex has.
    factories: { createConnection, createSecureConnection } as unknown as {
      createConnection: typeof connect
      createSecureConnection: typeof connectTls
    },
    close: () => {
      for (const { guarded } of open.toReversed()) guarded.destroy()
    },
  }
}

/** A name is sent along (SNI), an address can't be; either is what the certificate has to be for. */
const tlsOptions = (host: string, skipVerifyTls: boolean) => ({
  host,
  minVersion: 'TLSv1.2' as const,
  rejectUnauthorized: !skipVerifyTls,
  ...(isIP(host) === 0 && { servername: host }),
})
