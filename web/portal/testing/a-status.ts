import type { UserStatus } from '#server/status/status.schema.ts'

/** A signed-in user's status for unit tests: answered now, and as the facts say. */
export const aStatus = (facts: Partial<UserStatus> = {}): UserStatus => ({
  Name: 'Robin Reed',
  UserName: 'robin',
  Session: 'session',
  CurrentAddress: '203.0.113.1',
  Addresses: [{ IP: '203.0.113.1', Source: 'own' }],
  Nonce: 'nonce',
  Ends: new Date(Date.now() + 8 * 3_600_000).toISOString(),
  Now: new Date().toISOString(),
  ValidUntil: null,
  Licensed: true,
  UserLicensed: true,
  NewUserDashboard: true,
  AuthType: 'local',
  Kiosk: false,
  UntrustedProxy: null,
  AutoBrowseToURI: null,
  ACLs: [],
  TotpEnabled: false,
  ...facts,
})
