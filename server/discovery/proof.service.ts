import type { Kysely } from 'kysely'
import type { AddressSource } from '#machines/address-move.ts'
import { apiError } from '../errors.ts'
import { lookupPortNumbers } from '../platform/config-values.ts'
import type { DB } from '../platform/database.types.ts'
import { isPublicUnicast } from '../platform/http/grantable-address.ts'
import { findAddress } from '../platform/http/ip-address.ts'
import { readSettings } from '../settings/setting.query.ts'
import type { Settings } from '../settings/setting.schema.ts'
import { listSightings, type Sighting } from './sighting.query.ts'

/** An address as a client names it. */
export type NamedAddress = { Port: number; IP: string }

/** The same, as far as it counts: in its one spelling, with what stands behind it. */
export type ProvenAddress = { address: string; family: 4 | 6; port: number; source: AddressSource }

/** As many answers of a foreign lookup service count as there are lookup ports. */
const mostClaims = 4

/**
 * Judges the addresses that a client names: each has to have been seen by one of our ports for this session, or to be
 * the word of a foreign lookup service that an administrator trusts (decision 8). One that doesn't count refuses all.
 *
 * @throws err.addressNotSeen, err.addressNotGrantable (Extra = the address); err.invalidField for too many claims
 */
export async function proveAddresses(
  db: Kysely<DB>,
  {
    sessionId,
    named,
    isGrantable,
  }: { sessionId: string; named: readonly NamedAddress[]; isGrantable: (address: string) => boolean },
): Promise<ProvenAddress[]> {
  const [settings, sightings] = await Promise.all([readSettings(db), listSightings(db, sessionId)])
  const proven = named.map((one) => judge(one, settings, sightings))
  const barred = proven.find(({ address }) => !isGrantable(address))
  if (barred !== undefined) throw apiError('err.addressNotGrantable', { extra: barred.address })
  const claims = proven.filter(({ source }) => source === 'claimed').map(({ address }) => address)
  if (new Set(claims).size > mostClaims) throw apiError('err.invalidField', { extra: 'IPs' })
  return proven
}

function judge(
  { Port: port, IP }: NamedAddress,
  settings: Settings,
  sightings: readonly Sighting[],
): ProvenAddress {
  const found = findAddress(IP)
  if (found === undefined) throw notSeen(IP)
  const isSeen = sightings.some((seen) => seen.port === port && seen.address === found.address)
  if (isSeen && port === 0) return { ...found, port, source: 'own' }
  if (isSeen && isByOurPorts(settings)) return { ...found, port, source: 'discovered' }
  const isLookupPort = lookupPortNumbers.some((known) => known === port)
  if (!isLookupPort || !isByTrustedService(settings)) throw notSeen(IP)
  if (!isPublicUnicast(found.address)) throw apiError('err.addressNotGrantable', { extra: IP })
  return { ...found, port, source: 'claimed' }
}

const isByOurPorts = ({ DiscoverIP, DiscoverIPURL }: Settings): boolean => DiscoverIP && DiscoverIPURL === ''

const isByTrustedService = ({ DiscoverIP, DiscoverIPURL, TrustDiscoveryClaims }: Settings): boolean =>
  DiscoverIP && DiscoverIPURL !== '' && TrustDiscoveryClaims

const notSeen = (extra: string) => apiError('err.addressNotSeen', { extra })
