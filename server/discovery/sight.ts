import type { Kysely } from 'kysely'
import type { Config } from '../platform/config.ts'
import type { DB } from '../platform/database.types.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import type { Sealer } from '../platform/secrets.ts'
import { readNonce } from './nonce.ts'
import { insertSighting } from './sighting.store.ts'

/** What a request to one of our ports shows: a nonce, whose it is, and where it came in. */
export type Look = {
  nonce: string | undefined
  client: ClientAddress
  /** A lookup port by its number, or the portal's own by the host that was asked for. */
  by: { port: number } | { host: string }
}

/** Writes down what a request to one of our ports proves; most prove nothing. */
export type Sight = (look: Look) => Promise<void>

/**
 * Makes it. A request proves something when it shows a nonce of ours, comes from a door's kind of address, and through
 * no proxy that nobody configured (decisions 8, 9); whatever else comes writes nothing.
 */
export function createSight({
  config,
  db,
  sealer,
  isGrantable,
  portalPort,
}: {
  config: Pick<Config, 'ipv4Host' | 'ipv6Host'>
  db: Kysely<DB>
  sealer: Pick<Sealer, 'hmac'>
  isGrantable: (address: string) => boolean
  /** The lookup port that the portal's own port stands for at the moment. */
  portalPort: () => number | null
}): Sight {
  return async function sight({ nonce, client, by }) {
    if (nonce === undefined || client.viaUntrustedProxy !== false || !isGrantable(client.address)) return
    const port = 'port' in by ? by.port : portOf(by.host, client)
    const known = readNonce(sealer, nonce)
    if (port === null || known === undefined) return
    await insertSighting(db, { ...known, nonce, port, address: client.address })
  }

  /** At a name of one family it is the session's own address of that family: port 0. */
  function portOf(hostHeader: string, { family }: ClientAddress): number | null {
    const host = toHostName(hostHeader)
    if (host === config.ipv4Host) return family === 4 ? 0 : null
    if (host === config.ipv6Host) return family === 6 ? 0 : null
    return portalPort()
  }
}

/** A Host header without its port and an IPv6 address's brackets; '' when it is none. */
const toHostName = (header: string): string =>
  URL.canParse(`http://${header}`) ? new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '') : ''
