import type { Kysely } from 'kysely'
import { entryAddress } from '#machines/entry-address.ts'
import { makeNonce } from '../discovery/nonce.ts'
import type { DB } from '../platform/database.types.ts'
import type { Sealer } from '../platform/secrets.ts'
import type { UserSession } from '../sessions/session-guard.ts'
import { readSettings } from '../settings/setting.query.ts'
import type { UserStatus } from '../status/status.schema.ts'
import { type AclStatusRow, listAclStatuses } from './acl-status.query.ts'
import { statusNumberOf, toAclStatus } from './acl-status.ts'
import { getSessionOverview } from './session-overview.query.ts'

/** Everything the portal's page shows, in three reads. Portal §3, specification README "Entries in the status". */
export async function readUserStatus(
  { db, sealer }: { db: Kysely<DB>; sealer: Pick<Sealer, 'hmac'> },
  session: UserSession,
  currentAddress: string,
): Promise<UserStatus> {
  const [overview, rows, settings] = await Promise.all([
    getSessionOverview(db, session.id),
    listAclStatuses(db, session.id),
    readSettings(db),
  ])
  return {
    Name: overview.name,
    UserName: session.userName,
    Session: session.tag,
    CurrentAddress: currentAddress,
    Addresses: overview.addresses,
    Nonce: makeNonce(sealer, { sessionId: session.id, issuedAt: overview.now }),
    Ends: session.endsAt.toISOString(),
    Now: overview.now.toISOString(),
    ValidUntil: overview.validUntil?.toISOString() ?? null,
    Licensed: overview.licensed,
    UserLicensed: overview.userLicensed,
    NewUserDashboard: settings.NewUserDashboard,
    AuthType: session.authType,
    Kiosk: session.kiosk,
    UntrustedProxy: overview.untrustedProxy,
    AutoBrowseToURI: autoBrowseAddress(rows),
    ACLs: rows.map(toAclStatus),
    TotpEnabled: session.totpEnabled,
  }
}

/** Exactly one entry wants it, it is open, and it is a web address: that, with its token. Specification README "AutoBrowse". */
function autoBrowseAddress(rows: readonly AclStatusRow[]): string | null {
  const wanting = rows.filter((row) => row.autoBrowseUsers)
  const [only] = wanting
  if (only === undefined || wanting.length > 1 || ![0, 5].includes(statusNumberOf(only))) return null
  const { URL, Config } = toAclStatus(only)
  return entryAddress(URL, Config.UriToken) ?? null
}
