import type { Transaction } from 'kysely'
import { dropClaimed, moveAddresses } from '#machines/address-batch.ts'
import {
  type AddressVerdict,
  type HeldAddress,
  heldAddresses,
  moveAddress,
  type SeenAddress,
  settleAddresses,
} from '#machines/address-move.ts'
import { type NamedAddress, type ProvenAddress, proveAddresses } from '../discovery/proof.service.ts'
import { lockGranting } from '../entries/lock-subjects.ts'
import type { OrderRef } from '../entries/settle-entries.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import type { GrantDeps } from './grant.service.ts'
import { listSessionAddresses, renewOwnAddress, saveSessionAddresses } from './session-address.store.ts'
import { type Grantee, keepAddresses, stand } from './stand.ts'
import { hasDueGrants, listGrantableAcls } from './stand-grants.store.ts'

/** Which addresses a session holds, as acts: each brings its grants in line. */
export function createAddressService({
  db,
  gateway,
  events,
  isGrantable,
}: Omit<GrantDeps, 'rights' | 'log'>) {
  /**
   * The portal's own look at where its user is (sign-in, and every 30 s): moves the session's address by the
   * rules of decision 14 and brings the grants in line. `client` null settles without a look.
   *
   * Costs two reads when nothing changed. A session that has just begun has neither addresses nor grants: there is
   * nothing to look at first, and nothing more to do for whoever has no knoc.
   *
   * @returns whether the session has moved too often and has to sign in again.
   */
  async function follow(
    grantee: Grantee,
    client: ClientAddress | null,
    { hasJustBegun = false }: { hasJustBegun?: boolean } = {},
  ): Promise<{ needsSignIn: boolean }> {
    const seen = client !== null && canBeFollowed(client) ? client : null
    const lookQuietly = hasJustBegun ? settleWithoutKnocs : settleQuietly
    const quiet = await lookQuietly(grantee, seen)
    if (quiet !== null) return quiet
    return change(grantee, async (_, addresses, nowMs) => judge(addresses, seen, nowMs))
  }

  /**
   * Ties what discovery found to the session: every knoc with CGNATOpen covers it from now on. What a name of one
   * family saw (Port 0) is the session's own address of that family, under the same rules as its other moves.
   *
   * @throws err.proxyNotTrusted, err.addressChanged (the request itself comes from somewhere else),
   * err.addressNotSeen, err.addressNotGrantable; then nothing has changed
   * @returns whether the session has moved too often and has to sign in again.
   */
  async function tie(
    grantee: Grantee,
    client: ClientAddress,
    named: readonly NamedAddress[],
  ): Promise<{ needsSignIn: boolean }> {
    checkClient(client)
    return change(grantee, async (tx, addresses, nowMs) => {
      checkIsHeld(client, addresses)
      const proven = await proveAddresses(tx, { sessionId: grantee.id, named, isGrantable })
      return moveAddresses(addresses, toLooks(proven, nowMs))
    })
  }

  /** Takes back what only a foreign lookup service said of a session. */
  async function dropClaims(grantee: Grantee): Promise<void> {
    await change(grantee, async (_, addresses, nowMs) => dropClaimed(addresses, nowMs))
  }

  /** One granting transaction: what the session may have is locked, its addresses change, its grants follow. */
  async function change(
    grantee: Grantee,
    decide: (
      tx: Transaction<DB>,
      addresses: readonly HeldAddress[],
      nowMs: number,
    ) => Promise<AddressVerdict>,
  ): Promise<{ needsSignIn: boolean }> {
    const { needsSignIn, orders } = await inTransaction(db, async (tx) => {
      await lockGranting(tx, { ...subjectsOf(grantee), acls: await listGrantableAcls(tx, grantee.id) })
      const now = await listSessionAddresses(tx, grantee.id)
      const verdict = await decide(tx, now.addresses, now.nowMs)
      await keepAddresses(tx, grantee, verdict)
      return { needsSignIn: verdict.needsSignIn, orders: await stand(tx, grantee) }
    })
    tell(grantee, orders)
    return { needsSignIn }
  }

  /** Looks without a lock: null when addresses move or grants are due, else all that was to do is done. */
  async function settleQuietly(
    grantee: Grantee,
    seen: ClientAddress | null,
  ): Promise<{ needsSignIn: boolean } | null> {
    const { addresses, nowMs } = await listSessionAddresses(db, grantee.id)
    const verdict = judge(addresses, seen, nowMs)
    if (verdict.moved !== null || verdict.events.length > 0) return null
    if (await hasDueGrants(db, grantee.id)) return null
    if (seen !== null) await renewOwnAddress(db, { sessionId: grantee.id, address: seen.address })
    return { needsSignIn: verdict.needsSignIn }
  }

  /** The same for a session that has just begun: without a knoc there is only its address to be written down. */
  async function settleWithoutKnocs(
    grantee: Grantee,
    seen: ClientAddress | null,
  ): Promise<{ needsSignIn: boolean } | null> {
    if ((await listGrantableAcls(db, grantee.id)).length > 0) return null
    const { addresses, nowMs } = await listSessionAddresses(db, grantee.id)
    const verdict = judge(addresses, seen, nowMs)
    if (seen !== null) await saveSessionAddresses(db, grantee.id, verdict.addresses)
    return { needsSignIn: verdict.needsSignIn }
  }

  /** @throws err.proxyNotTrusted, err.addressNotGrantable */
  function checkClient(client: ClientAddress): void {
    if (client.viaUntrustedProxy !== false)
      throw apiError('err.proxyNotTrusted', { extra: client.viaUntrustedProxy })
    if (!isGrantable(client.address)) throw apiError('err.addressNotGrantable', { extra: client.address })
  }

  const canBeFollowed = (client: ClientAddress): boolean =>
    client.viaUntrustedProxy === false && isGrantable(client.address)

  function tell(grantee: Grantee, orders: readonly OrderRef[]): void {
    gateway.nudge(orders)
    events.publish([grantee.id])
  }

  return { follow, tie, dropClaims, checkClient, tell }
}

/** What a granting transaction locks beside knocs. */
export const subjectsOf = ({ id, userId }: Grantee) => ({ userId, sessionId: id })

/** Whoever acts has to be where the session is, so that a stolen cookie brings no address along unseen (decision 14). */
export function checkIsHeld({ address }: ClientAddress, addresses: readonly HeldAddress[]): void {
  if (!heldAddresses(addresses).some((held) => held.address === address))
    throw apiError('err.addressChanged', { extra: address })
}

/** What was proven, as looks; `onlyFor` names the one knoc that it counts for. */
export const toLooks = (proven: readonly ProvenAddress[], at: number, onlyFor?: string): SeenAddress[] =>
  proven.map(({ address, family, source }) => ({
    address,
    family,
    source,
    at,
    ...(onlyFor !== undefined && { onlyFor }),
  }))

const judge = (addresses: readonly HeldAddress[], seen: ClientAddress | null, at: number): AddressVerdict =>
  seen === null
    ? settleAddresses(addresses, at)
    : moveAddress(addresses, { address: seen.address, family: seen.family, at })
