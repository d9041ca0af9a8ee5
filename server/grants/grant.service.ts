import type { Kysely } from 'kysely'
import { moveAddresses } from '#machines/address-batch.ts'
import { type HeldAddress, heldAddresses } from '#machines/address-move.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { type NamedAddress, proveAddresses } from '../discovery/proof.service.ts'
import { lockGranting } from '../entries/lock-subjects.ts'
import { ApiError, apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import { findAddress } from '../platform/http/ip-address.ts'
import { type AclStatusRow, findVisibleAcl, listAclStatuses } from './acl-status.query.ts'
import { canBeGranted } from './acl-status.ts'
import { checkIsHeld, createAddressService, subjectsOf, toLooks } from './address.service.ts'
import type { GrantRequest } from './grant.schema.ts'
import { listClickedAcls, revokeStanding } from './grant.store.ts'
import { checkMayClick } from './may-click.query.ts'
import { listSessionAddresses } from './session-address.store.ts'
import { type Grantee, keepAddresses, stand, toGrantAudit } from './stand.ts'

export type { Grantee } from './stand.ts'

/** What the grants need. `isGrantable` says whether a door may be opened for an address at all. */
export type GrantDeps = Pick<Deps, 'rights' | 'gateway' | 'events' | 'log'> & {
  db: Kysely<DB>
  isGrantable: (address: string) => boolean
}

export type GrantService = ReturnType<typeof createGrantService>

/** Grants as acts: following a session's addresses, a click that opens, a click that closes. */
export function createGrantService({ db, rights, gateway, events, isGrantable }: GrantDeps) {
  const { follow, tie, dropClaims, checkClient, tell } = createAddressService({
    db,
    gateway,
    events,
    isGrantable,
  })

  /**
   * A click on Grant. Answers what stands when there is nothing to open, and moves no end then. What a lookup port
   * saw beside the session's own address counts for this knoc alone, if it is open to CGNAT.
   *
   * @throws err.proxyNotTrusted, err.addressNotGrantable, err.addressChanged (ask for the status again and repeat),
   * err.addressNotSeen, err.notFound, err.unlicensed, err.userUnlicensed, err.accessRestricted,
   * err.noListForAddress
   */
  async function grant(
    grantee: Grantee,
    client: ClientAddress,
    request: GrantRequest,
  ): Promise<AclStatusRow> {
    checkClient(client)
    const row = await findStatus(grantee, request.ACLID)
    if (!canBeGranted(row)) return row
    const aclId = row.id

    const orders = await inTransaction(db, async (tx) => {
      await lockGranting(tx, { ...subjectsOf(grantee), acls: [aclId] })
      const { addresses, nowMs } = await listSessionAddresses(tx, grantee.id)
      checkIsHeld(client, addresses)
      const unknown = listUnknown(request, aclId, addresses)
      const named = { sessionId: grantee.id, named: unknown, isGrantable }
      const proven = unknown.length === 0 ? [] : await proveAddresses(tx, named)
      await checkMayClick(tx, grantee, aclId)
      if (proven.length > 0 && row.cgnatOpen)
        await keepAddresses(tx, grantee, moveAddresses(addresses, toLooks(proven, nowMs, aclId)), { aclId })
      return stand(tx, grantee, { clicked: aclId })
    })
    tell(grantee, orders)
    const after = await getStatus(grantee.id, aclId)
    if (!after.live) throw apiError('err.noListForAddress', { extra: client.address })
    return after
  }

  /**
   * A session that goes on from another takes over what that one's clicks hold open, as though its user had clicked
   * again: what may not be granted any more is left out. Ends are counted anew, for signing in again is what may
   * prolong access.
   */
  async function takeOverClicks(
    grantee: Grantee,
    { from, client }: { from: string; client: ClientAddress },
  ): Promise<void> {
    for (const ACLID of await listClickedAcls(db, from))
      await grant(grantee, client, { ACLID, IPs: [] }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
      })
  }

  /** A click on Revoke, or a client's wish to give access back; closing what is closed succeeds. */
  async function revoke(grantee: Grantee, id: string): Promise<AclStatusRow> {
    const aclId = await findVisibleAcl(db, grantee.userId, id)
    if (aclId === undefined) throw apiError('err.notFound')
    await rights.change({ sessions: [grantee.id] }, 'revoked', async (tx) => {
      const ended = await revokeStanding(tx, { sessionId: grantee.id, aclId })
      await writeAudit(
        tx,
        ended.map((change) => toGrantAudit('RevokeGrant', grantee, change, { reason: 'revoked' })),
      )
    })
    return getStatus(grantee.id, aclId)
  }

  /** The status of an entry the user may have; a child's id is taken as its parent's. */
  async function findStatus(grantee: Grantee, id: string): Promise<AclStatusRow> {
    const [row] = await listAclStatuses(db, grantee.id, id)
    if (row !== undefined) return row
    const parentId = await findVisibleAcl(db, grantee.userId, id)
    if (parentId === undefined) throw apiError('err.notFound')
    return getStatus(grantee.id, parentId)
  }

  async function getStatus(sessionId: string, aclId: string): Promise<AclStatusRow> {
    const [row] = await listAclStatuses(db, sessionId, aclId)
    if (row === undefined) throw apiError('err.notFound')
    return row
  }

  return { follow, tie, dropClaims, grant, takeOverClicks, revoke }
}

/**
 * What a click names beside the addresses that it has anyway. Those of Port 0 have to be the session's own.
 *
 * @throws err.addressChanged
 */
function listUnknown(
  { IPs }: GrantRequest,
  aclId: string,
  addresses: readonly HeldAddress[],
): NamedAddress[] {
  const held = heldAddresses(addresses).filter(({ onlyFor }) => onlyFor?.includes(aclId) ?? true)
  const isHeld = (IP: string) => held.some(({ address }) => address === (findAddress(IP)?.address ?? IP))
  const unknown = IPs.filter(({ IP }) => !isHeld(IP))
  const moved = unknown.find(({ Port }) => Port === 0)
  if (moved !== undefined) throw apiError('err.addressChanged', { extra: moved.IP })
  return unknown
}
