import type { Alarm } from '../alarms/alarm.schema.ts'

/** What the shells of portal and console read. Portal §3, console §3. */

/** GET /api/theme, public. */
export type Theme = {
  Accent: Accent
  HighAccessibility: boolean
  Logo: string | null
  LightModeLogo: string | null
}
export const accents = ['teal', 'grape', 'iceberg', 'rose', 'offsite'] as const
export type Accent = (typeof accents)[number]

/** GET /api/system_status, public. */
export type SystemStatus = {
  /** Origin without a port of the lookup service, such as https://knoc.example.com; '' while discovery is off. */
  IPApi: string
  /** What each lookup port of the specification is reached at; one that is switched off is left out. */
  LookupPorts: LookupPort[]
  /** Origins that have an address of one family only, so that a browser shows both; '' where none is configured. */
  IPv4Origin: string
  IPv6Origin: string
  JsBundleHash: string
  OIDC: boolean
  AdminOIDC: boolean
  /** SAML is configured; the metadata call says the same. */
  SAML: boolean
  AdminSAML: boolean
}

/** `Port` is the one that is told of in `IPs`, `At` the one that listens. */
export type LookupPort = { Port: number; At: number }

/** One entry of the portal. Spec README "Entries in the status". */
export type AclStatus = {
  ID: string
  ACLID: string
  ParentID: string | null
  Description: string
  URL: string
  Icon: string
  Category: string
  Status: number
  Error: string | null
  ExpiredAfter: string | null
  ClickToGrant: boolean
  HideFromUsers: boolean
  DisableForUser: boolean
  GrantTypeFixedIps: boolean
  CGNATOpen: boolean
  AutoBrowseUsers: boolean
  Config: { UriToken?: string | undefined }
  /** When the enforcement point was last seen to agree, for 'verified … ago'. */
  VerifiedAt: string | null
  /**
   * How an open or closed door is known to be so: read back there, or only reported by the script that did it. Null
   * when it isn't known, as of lists that firewalls fetch.
   */
  Verified: 'verified' | 'reported' | null
  /** Why DisableForUser is set: the kind of restriction that the session's address doesn't meet. */
  RestrictedBy: Restriction | null
  /** A list that firewalls fetch by themselves. */
  Passive: boolean
  /** Passive: when the list was last read by anybody, and when the next reading is expected; null while unknown. */
  ListReadAt: string | null
  NextReadAt: string | null
}

/** Internal addresses only, any but internal ones, those of a list only, any but those of a list. */
export type Restriction = 'internalOnly' | 'externalOnly' | 'allowList' | 'denyList'

/** An address that the session holds. A claimed one is the word of a foreign lookup service. */
export type SessionAddress = { IP: string; Source: 'own' | 'discovered' | 'claimed' }

/** GET /api/status. `?revalidate=1` from the portal's own page moves the session's address (decision 14). */
export type UserStatus = {
  Name: string
  UserName: string
  /** Hash of the session, echoed by requests in X-Knoc-Session so that two accounts in two tabs can't mix. */
  Session: string
  CurrentAddress: string
  /** All that the session holds, its own first; access covers them as each entry says. */
  Addresses: SessionAddress[]
  /** Good for 60 s: shown to the lookup ports as `?n=`, so that they know whose address they see (decision 8). */
  Nonce: string
  Ends: string
  Now: string
  ValidUntil: string | null
  Licensed: boolean
  UserLicensed: boolean
  NewUserDashboard: boolean
  AuthType: string
  Kiosk: boolean
  /** Set when the request came through a proxy nobody configured: sign-in works, grants don't. */
  UntrustedProxy: string | null
  AutoBrowseToURI: string | null
  ACLs: AclStatus[]
  TotpEnabled: boolean
}

export type LicensingSummary = {
  Licensed: boolean
  Expires: string | null
  UserLimit: number | null
  UserLimitOverage: number | null
  UserLimitOveragePercentage: number | null
  SessionLimit: number | null
}

/** GET /api/admin/status before the second step: nothing but what the sign-in asks for. */
export type HalfAdminStatus = {
  TotpEnabled: boolean
  AdminTotpVerified: boolean
  /** A passkey can be the second step. */
  HasPasskey: boolean
  TotpEnrolmentDeferable: boolean
  SessionComplete: false
}

/** GET /api/admin/status. */
export type AdminStatus = Omit<HalfAdminStatus, 'SessionComplete'> & {
  SessionComplete: true
  /** Hash of the session, echoed by requests in X-Knoc-Session. */
  Session: string
  Name: string
  UserName: string
  AuthType: string
  Role: string
  Ends: string
  Now: string
  Cloud: boolean
  ServerVersion: string
  AvailableServerVersions: unknown[]
  AvailableAgentVersions: string[]
  MinimumRequiredAgentVersion: { version: string }
  LatestChangeLogsUrl: string | null
  LicenceSite: string | null
  /** Address discovery is on: the console offers 'Open to CGNAT'. */
  DiscoverIP: boolean
  SessionCount: number
  ACLCount: number
  UserCount: number
  Activity: { Entry: Record<string, Record<string, unknown>>; Date: string }[]
  Licensing: LicensingSummary
  /** Longest silence of the server seen here within a year, in seconds; null when there was none. Decision 10. */
  LongestSilence: number | null
  /** What somebody has to look at now, most urgent first. */
  Alarms: Alarm[]
  /** Standing warnings: plain http, an untrusted proxy seen lately, a licence clock gone back. */
  Warnings: { Code: string; Extra?: string }[]
}
