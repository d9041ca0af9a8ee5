import {
  daysToExpiry,
  expiryWarningMs,
  type Licence,
  type UserAllowance,
  userAllowance,
} from '#machines/licence.ts'
import { compareVersions } from '#machines/version.ts'
import type { AdminStatus, LicensingSummary } from '#server/status/status.schema.ts'
import { versionStanding } from '../agents/agent-version.ts'

/** What the banners are decided on. */
export type BannerFacts = {
  status: Pick<
    AdminStatus,
    | 'Cloud'
    | 'ServerVersion'
    | 'AvailableServerVersions'
    | 'MinimumRequiredAgentVersion'
    | 'AvailableAgentVersions'
    | 'LatestChangeLogsUrl'
    | 'LicenceSite'
    | 'UserCount'
    | 'Licensing'
    | 'Now'
  >
  agents: readonly { Version: string | null }[]
}

/** A banner: texts are `banner.<text>.title` and `.body`, filled with `values`. */
export type Banner = {
  id:
    | 'unlicensed'
    | 'expiresSoon'
    | 'agentIncompatible'
    | 'userLimitExceeded'
    | 'userLimitReached'
    | 'serverUpdate'
  text: string
  tone: 'danger' | 'warning' | 'info'
  values: { count?: number; [name: string]: string | number }
  /** It is mended in Settings. */
  isForSettings?: boolean
  /** Where to read or do more; `linkText` is a key below `banner.link.`. */
  link: { url: string; linkText: 'licence' | 'changelog' } | undefined
}

/** Which page's order holds; groups and users have one. */
export type BannerPlace = 'home' | 'people' | 'other'

/** Banners one at a time, in this order. Console §1, portal §2 "Admin alert banners". */
export const bannerOrder: Record<BannerPlace, readonly Banner['id'][]> = {
  home: ['unlicensed', 'expiresSoon', 'agentIncompatible', 'userLimitExceeded', 'serverUpdate'],
  people: ['unlicensed', 'agentIncompatible', 'userLimitExceeded', 'userLimitReached', 'serverUpdate'],
  other: ['unlicensed', 'agentIncompatible', 'userLimitExceeded', 'serverUpdate'],
}

/**
 * The first banner that holds here and whose text wasn't dismissed in this page session: what becomes worse says so
 * although its milder form was dismissed.
 */
export function findBanner(
  facts: BannerFacts,
  place: BannerPlace,
  dismissed: readonly string[],
): Banner | undefined {
  for (const id of bannerOrder[place]) {
    const banner = banners[id](facts)
    if (banner && !dismissed.includes(banner.text)) return banner
  }
  return undefined
}

/** Where the number of users stands against the licence, as the status tells it. */
export const allowanceOf = (status: Pick<AdminStatus, 'Licensing' | 'UserCount'>): UserAllowance =>
  userAllowance(toLicence(status.Licensing), status.UserCount)

/** Urgencies of a server update, most urgent first; an unknown one counts as the last. Console §8. */
const urgencies = ['critical', 'high', 'medium', 'low', 'default'] as const

type Find = (facts: BannerFacts) => Banner | undefined

const banners: Record<Banner['id'], Find> = {
  unlicensed: ({ status }) =>
    status.Licensing.Licensed
      ? undefined
      : {
          id: 'unlicensed',
          text: 'unlicensed',
          tone: 'warning',
          values: {},
          link: licenceLink(status),
          isForSettings: true,
        },

  expiresSoon: ({ status: { Cloud, Licensing, Now, ...status } }) => {
    const licence = toLicence(Licensing)
    if (Cloud || licence === null || licence.expiresAt === null) return undefined
    const now = Date.parse(Now)
    if (licence.expiresAt - now > expiryWarningMs) return undefined
    const count = daysToExpiry(licence, now) ?? 0
    return {
      id: 'expiresSoon',
      text: 'expiresSoon',
      tone: 'warning',
      values: { count },
      link: licenceLink(status),
      isForSettings: true,
    }
  },

  agentIncompatible: ({ status, agents }) => {
    const version = status.MinimumRequiredAgentVersion.version
    const policy = { minimum: version, available: status.AvailableAgentVersions }
    const isAny = agents.some(({ Version }) => versionStanding(Version, policy) === 'incompatible')
    return isAny
      ? {
          id: 'agentIncompatible',
          text: 'agentIncompatible',
          tone: 'danger',
          values: { version },
          link: undefined,
        }
      : undefined
  },

  userLimitExceeded: ({ status }) => {
    const { isExceeded, isFarExceeded, remaining, limit, canCreate } = allowanceOf(status)
    if (!isExceeded || limit === null) return undefined
    const text = canCreate ? (isFarExceeded ? 'userLimitFar' : 'userLimitOver') : 'userLimitBlocked'
    const percentage = status.Licensing.UserLimitOveragePercentage ?? 0
    const values = { count: remaining ?? 0, limit, percentage }
    const tone = canCreate ? 'warning' : 'danger'
    return { id: 'userLimitExceeded', text, tone, values, link: licenceLink(status) }
  },

  userLimitReached: ({ status }) => {
    const { canCreate, limit } = allowanceOf(status)
    if (canCreate || limit === null) return undefined
    const values = { limit, percentage: status.Licensing.UserLimitOveragePercentage ?? 0 }
    return {
      id: 'userLimitReached',
      text: 'userLimitReached',
      tone: 'danger',
      values,
      link: licenceLink(status),
    }
  },

  serverUpdate: ({ status }) => {
    if (status.Cloud) return undefined
    const update = findUpdate(status)
    if (update === undefined) return undefined
    const { urgency, version, url } = update
    const isUrgent = urgency === 'critical' || urgency === 'high'
    return {
      id: 'serverUpdate',
      text: `serverUpdate.${urgency}`,
      tone: urgency === 'critical' ? 'danger' : isUrgent ? 'warning' : 'info',
      values: { version },
      link: isUrgent && url !== undefined ? { url, linkText: 'changelog' } : undefined,
    }
  },
}

const licenceLink = ({ LicenceSite }: { LicenceSite: string | null }): Banner['link'] =>
  LicenceSite === null ? undefined : { url: LicenceSite, linkText: 'licence' }

/** The status's licensing in the arithmetic's words; null without a licence. */
function toLicence(licensing: LicensingSummary): Licence | null {
  if (!licensing.Licensed) return null
  return {
    userLimit: licensing.UserLimit,
    sessionLimit: licensing.SessionLimit,
    overagePercentage: licensing.UserLimitOveragePercentage ?? 0,
    expiresAt: licensing.Expires === null ? null : Date.parse(licensing.Expires),
  }
}

type Update = { urgency: (typeof urgencies)[number]; version: string; url: string | undefined }

/** The most urgent version above the server's own, the newest among equals. The feed is another's: believe no shape. */
function findUpdate(status: BannerFacts['status']): Update | undefined {
  const newer = status.AvailableServerVersions.flatMap((entry): Update[] => {
    if (typeof entry !== 'object' || entry === null) return []
    const { version, urgency, changelog_link: link } = entry as Record<string, unknown>
    if (typeof version !== 'string' || compareVersions(version, status.ServerVersion) <= 0) return []
    const url = typeof link === 'string' && /^https?:\/\//.test(link) ? link : status.LatestChangeLogsUrl
    return [
      { urgency: urgencies.find((known) => known === urgency) ?? 'default', version, url: url ?? undefined },
    ]
  })
  return newer.toSorted(
    (a, b) =>
      urgencies.indexOf(a.urgency) - urgencies.indexOf(b.urgency) || compareVersions(b.version, a.version),
  )[0]
}
