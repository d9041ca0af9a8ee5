import type { AclStatus } from '#server/status/status.schema.ts'

/** An entry of the status for unit tests: click-to-grant, waiting, and as the facts say. */
export const anEntry = (facts: Partial<AclStatus> = {}): AclStatus => ({
  ID: 'a',
  ACLID: 'a',
  ParentID: null,
  Description: 'A',
  URL: '',
  Icon: 'server',
  Category: 'Default',
  Status: 4,
  Error: null,
  ExpiredAfter: null,
  ClickToGrant: true,
  HideFromUsers: false,
  DisableForUser: false,
  GrantTypeFixedIps: false,
  CGNATOpen: false,
  AutoBrowseUsers: false,
  Config: {},
  VerifiedAt: null,
  Verified: null,
  RestrictedBy: null,
  Passive: false,
  ListReadAt: null,
  NextReadAt: null,
  ...facts,
})
