import { isIP } from 'node:net'
import { apiError } from '../../errors.ts'
import type { Config } from '../../platform/config.ts'

/** Who this installation is to browsers and authenticators; a passkey works for one relying party alone. */
export type RelyingParty = {
  /** The host name, without a port (WebAuthn Level 3, "RP ID"). */
  id: string
  /** Where the pages that ask for passkeys come from. */
  origin: string
}

/**
 * The relying party that the public URL makes us. It is the environment's: browsers send their requests from no
 * other origin (`originCheck`).
 *
 * @throws err.passkeysUnavailable where browsers have no WebAuthn: on an IP address, and in plain http on any other
 * host than localhost.
 */
export function relyingPartyOf({ publicUrl }: Pick<Config, 'publicUrl'>): RelyingParty {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (isAddress || (protocol !== 'https:' && !isLocal))
    throw apiError('err.passkeysUnavailable', {
      detail: `passkeys need https and a host name, not ${origin}`,
    })
  return { id: hostname, origin }
}
