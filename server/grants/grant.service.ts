import type { Kysely, Transaction } from 'kysely'
import { type AddressVerdict, heldAddresses, moveAddress, settleAddresses } from '#machines/address-move.ts'
import type { AuditEvent } from '../audit/audit.events.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { lockGranting } from '../entries/lock-subjects.ts'
import { type OrderRef, settleEntries } from '../entries/settle-entries.ts'
import { ApiError, apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import { type AclStatusRow, findVisibleAcl, listAclStatuses } from './acl-status.query.ts'
import { canBeGranted } from './acl-status.ts'
import type { GrantRequest } from './grant.schema.ts'
import { listClickedAcls, revokeStanding } from './grant.store.ts'
import { checkMayClick } from './may-click.query.ts'
import { listSessionAddresses, saveSessionAddresses } from './session-address.store.ts'
import { type GrantChange, hasDueGrants, listGrantableAcls, standGrants } from './stand-grants.store.ts'

/** Whose grants: the session and its user. */
export type Grantee = { id: string; userId: string; userName: string }

/** What the grants need. `isGrantable` says whether a door may be opened for an address at all. */
export type GrantDeps = Pick<Deps, 'rights' | 'gateway' | 'events' | 'log'> & {
  db: Kysely<DB>
  isGrantable: (address: string) => boolean
}

export type GrantService = ReturnType<typeof createGrantService>

/** Grants as acts: following a session's address, a click that opens, a click that closes. */
export function createGrantService({ db, rights, gateway, events, isGrantable }: GrantDeps) {
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
    const { needsSignIn, orders } = await inTransaction(db, async (tx) => {
      await lockGranting(tx, { ...subjectsOf(grantee), acls: await listGrantableAcls(tx, grantee.id) })
      const now = await listSessionAddresses(tx, grantee.id)
      const moved = judge(now.addresses, seen, now.nowMs)
      await saveSessionAddresses(tx, grantee.id, moved.addresses)
      await writeAudit(tx, toAddressAudit(grantee, moved))
      return { needsSignIn: moved.needsSignIn, orders: await stand(tx, grantee, null) }
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
    if (seen !== null) await saveSessionAddresses(db, grantee.id, verdict.addresses)
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

  /**
   * A click on Grant. Answers what stands when there is nothing to open, and moves no end then.
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
    if (client.viaUntrustedProxy !== false)
      throw apiError('err.proxyNotTrusted', { extra: client.viaUntrustedProxy })
    if (!isGrantable(client.address)) throw apiError('err.addressNotGrantable', { extra: client.address })
    const row = await findStatus(grantee, request.ACLID)
    if (!canBeGranted(row)) return row
    const aclId = row.id

    const orders = await inTransaction(db, async (tx) => {
      await lockGranting(tx, { ...subjectsOf(grantee), acls: [aclId] })
      const { addresses } = await listSessionAddresses(tx, grantee.id)
      checkAddresses(client, request, new Set(heldAddresses(addresses).map((held) => held.address)))
      await checkMayClick(tx, grantee, aclId)
      return stand(tx, grantee, aclId)
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

  const canBeFollowed = (client: ClientAddress): boolean =>
    client.viaUntrustedProxy === false && isGrantable(client.address)

  function tell(grantee: Grantee, orders: readonly OrderRef[]): void {
    gateway.nudge(orders)
    events.publish([grantee.id])
  }

  return { follow, grant, takeOverClicks, revoke }
}

const judge = (
  addresses: Parameters<typeof moveAddress>[0],
  seen: ClientAddress | null,
  at: number,
): AddressVerdict =>
  seen === null
    ? settleAddresses(addresses, at)
    : moveAddress(addresses, { address: seen.address, family: seen.family, at })

const subjectsOf = ({ id, userId }: Grantee) => ({ userId, sessionId: id })

/** Makes and ends the session's grants, writes them down, and orders what follows. */
async function stand(
  tx: Transaction<DB>,
  grantee: Grantee,
  clicked: string | null,
): Promise<readonly OrderRef[]> {
  const { made, ended, keys } = await standGrants(tx, { sessionId: grantee.id, clicked })
  await writeAudit(tx, [
    ...ended.map((change) => toGrantAudit('RevokeGrant', grantee, change, { reason: 'addressChanged' })),
    ...made.map((change) =>
      toGrantAudit(change.reason === 'click' ? 'ManualGrant' : 'CreateGrant', grantee, change, {}),
    ),
  ])
  return settleEntries(tx, keys)
}

/** The server opens nothing on a client's word: every address named has to be one it saw itself (decision 8). */
function checkAddresses(client: ClientAddress, { IPs }: GrantRequest, held: ReadonlySet<string>): void {
  if (!held.has(client.address)) throw apiError('err.addressChanged', { extra: client.address })
  for (const { Port, IP } of IPs) {
    if (held.has(IP)) continue
    throw apiError(Port === 0 ? 'err.addressChanged' : 'err.addressNotSeen', { extra: IP })
  }
}

const toGrantAudit = (
  kind: AuditEvent['kind'],
  grantee: Grantee,
  change: GrantChange,
  detail: Record<string, unknown>,
): AuditEvent => ({
  kind,
  fields: {
    UserName: grantee.userName,
    AclDescription: change.description,
    IpAddress: change.address,
  },
  detail: { grantId: change.id, aclId: change.aclId, ...detail },
})

/** The first address of a session is no move: the sign-in that brought it is written down already. */
const toAddressAudit = (grantee: Grantee, { addresses, events }: AddressVerdict): AuditEvent[] =>
  (addresses.length > 1 ? events : events.filter(({ type }) => type === 'refused')).map((event) => ({
    kind: event.type === 'refused' ? 'AddressRefused' : 'AddressMoved',
    fields: { UserName: grantee.userName, IpAddress: event.type === 'moved' ? event.to : event.address },
    detail: { ...event, sessionId: grantee.id },
  }))
