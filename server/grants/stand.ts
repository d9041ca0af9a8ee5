import type { Transaction } from 'kysely'
import type { AddressEvent, AddressVerdict } from '#machines/address-move.ts'
import type { AuditEvent } from '../audit/audit.events.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { type OrderRef, settleEntries } from '../entries/settle-entries.ts'
import type { DB } from '../platform/database.types.ts'
import { saveSessionAddresses } from './session-address.store.ts'
import { type GrantChange, standGrants } from './stand-grants.store.ts'

/** Whose grants: the session and its user. */
export type Grantee = { id: string; userId: string; userName: string }

/** Makes and ends the session's grants, writes them down, and orders what follows; see `standGrants`. */
export async function stand(
  tx: Transaction<DB>,
  grantee: Grantee,
  wanted: { clicked?: string | null; goingOn?: readonly string[] } = {},
): Promise<readonly OrderRef[]> {
  const { made, ended, keys } = await standGrants(tx, { sessionId: grantee.id, ...wanted })
  await writeAudit(tx, [
    ...ended.map((change) => toGrantAudit('RevokeGrant', grantee, change, { reason: 'addressChanged' })),
    ...made.map((change) =>
      toGrantAudit(change.reason === 'click' ? 'ManualGrant' : 'CreateGrant', grantee, change, {}),
    ),
  ])
  return settleEntries(tx, keys)
}

/** Stores what the rules made of a session's addresses, and writes it down. */
export async function keepAddresses(
  tx: Transaction<DB>,
  grantee: Grantee,
  verdict: AddressVerdict,
  detail: Record<string, unknown> = {},
): Promise<void> {
  await saveSessionAddresses(tx, grantee.id, verdict.addresses)
  await writeAudit(tx, toAddressAudit(grantee, verdict, detail))
}

/** A grant as the audit log tells it; whose address wasn't seen by the portal itself is marked with its source. */
export const toGrantAudit = (
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
  detail: {
    grantId: change.id,
    aclId: change.aclId,
    ...(isExtraSource(change.source) && { source: change.source }),
    ...detail,
  },
})

/** The first address of a session is no move: the sign-in that brought it is written down already. */
const toAddressAudit = (
  grantee: Grantee,
  { addresses, events }: AddressVerdict,
  detail: Record<string, unknown>,
): AuditEvent[] =>
  (addresses.length > 1 ? events : events.filter(({ type }) => type === 'refused')).map((event) => ({
    kind: kindOf(event),
    fields: { UserName: grantee.userName, IpAddress: event.type === 'moved' ? event.to : event.address },
    detail: { ...event, ...detail, sessionId: grantee.id },
  }))

/** What the lookup ports found beside the session's own address has a kind of its own. */
function kindOf(event: AddressEvent): AuditEvent['kind'] {
  if (event.type === 'refused') return 'AddressRefused'
  return event.type === 'joined' && isExtraSource(event.reason) ? 'PortWalkGrant' : 'AddressMoved'
}

const isExtraSource = (source: string): boolean => source === 'discovered' || source === 'claimed'
