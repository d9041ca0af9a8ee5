import { canDefer } from '#machines/sign-in.machine.ts'
import { minimumRequiredAgentVersion } from '../agents/compatibility.ts'
import { readLongestTruthGap } from '../alarms/truth-gap.query.ts'
import { listRecentAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { licensingSummary } from '../licence/licence.service.ts'
import type { Config } from '../platform/config.ts'
import type { AdminPrincipal } from '../sessions/session-guard.ts'
import { isDeferable } from '../sessions/totp-deferral.ts'
import { readSettings } from '../settings/setting.query.ts'
import { serverVersion } from '../version.ts'
import { type Counts, readCounts } from './status.query.ts'
import type { AdminStatus, HalfAdminStatus } from './status.schema.ts'

/** Lines of recent activity on the dashboard. */
const activityLength = 20

/** Everything the console's shell and dashboard show; before the second step only what that step needs. */
export async function readAdminStatus(
  { db, config, discovery, alarms }: Pick<Deps, 'db' | 'config' | 'discovery' | 'alarms'>,
  admin: AdminPrincipal,
): Promise<AdminStatus | HalfAdminStatus> {
  const factor = {
    TotpEnabled: admin.totpEnabled,
    AdminTotpVerified: admin.totpConfirmed,
    HasPasskey: admin.hasPasskey,
    TotpEnrolmentDeferable: canDefer({ realm: 'admin', ...admin, deferable: isDeferable(admin) }),
  }
  if (admin.stage === 'half') return { ...factor, SessionComplete: false }
  const [counts, { DiscoverIP }, licensing, activity, alarmsNow, longestGap] = await Promise.all([
    readCounts(db.lists),
    readSettings(db.lists),
    licensingSummary(db.lists),
    listRecentAudit(db.lists, activityLength),
    alarms.list(),
    readLongestTruthGap(db.lists),
  ])
  return {
    ...factor,
    SessionComplete: true,
    Session: admin.tag,
    Name: admin.displayName,
    UserName: admin.name,
    AuthType: admin.authType,
    Role: admin.role,
    Ends: admin.endsAt.toISOString(),
    Now: counts.now.toISOString(),
    Cloud: config.cloud,
    ServerVersion: serverVersion,
    AvailableServerVersions: [],
    AvailableAgentVersions: [serverVersion],
    MinimumRequiredAgentVersion: { version: minimumRequiredAgentVersion },
    LatestChangeLogsUrl: null,
    LicenceSite: config.licenceSite ?? null,
    DiscoverIP,
    SessionCount: counts.sessionCount,
    ACLCount: counts.aclCount,
    UserCount: counts.userCount,
    Activity: activity.map(({ kind, fields, at }) => ({
      Entry: { [kind]: fields as Record<string, unknown> },
      Date: at.toISOString(),
    })),
    Licensing: licensing,
    LongestSilence: longestGap?.seconds ?? null,
    Alarms: alarmsNow,
    Warnings: [...listWarnings(config, counts), ...discovery.warnings()],
  }
}

/** Standing warnings, most urgent first. Texts are `warning.<Code>`. */
function listWarnings(
  config: Pick<Config, 'publicUrl'>,
  counts: Pick<Counts, 'untrustedProxy'>,
): AdminStatus['Warnings'] {
  return [
    ...(counts.untrustedProxy === null ? [] : [{ Code: 'untrustedProxy', Extra: counts.untrustedProxy }]),
    ...(config.publicUrl.startsWith('http:') ? [{ Code: 'plainHttp', Extra: config.publicUrl }] : []),
  ]
}
