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
  IPApi: string
  JsBundleHash: string
  OIDC: boolean
  AdminOIDC: boolean
  /** SAML is configured; the metadata call says the same. */
  SAML: boolean
  AdminSAML: boolean
}

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
}

/** GET /api/status. `?revalidate=1` from the portal's own page moves the session's address (decision 14). */
export type UserStatus = {
  Name: string
  UserName: string
  /** Hash of the session, echoed by requests in X-Knoc-Session so that two accounts in two tabs can't mix. */
  Session: string
  CurrentAddress: string
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
  SessionCount: number
  ACLCount: number
  UserCount: number
  Activity: { Entry: Record<string, Record<string, unknown>>; Date: string }[]
  Licensing: LicensingSummary
  /** Standing warnings: plain http, an untrusted proxy seen lately, a licence clock gone back. */
  Warnings: { Code: string; Extra?: string }[]
}
