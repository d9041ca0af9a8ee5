/**
 * Audit facts: every kind of event the product writes, as data. Kinds are the specification's (README "Audit").
 *
 * An event is written in the transaction of the change it tells, so there is none without the other.
 */
export const auditKinds = [
  'LoginUser',
  'LoginAdmin',
  'LoginFailed',
  'LogoutUser',
  'LogoutAdmin',
  'SessionEnded',
  'TOTPEnrolled',
  'TOTPDeferred',
  'TOTPValidUser',
  'TOTPValidAdmin',
  'TOTPInvalidUser',
  'TOTPInvalidAdmin',
  'RecoveryCodeUsed',
  'ResetTOTP',
  'CreatePasskey',
  'UpdatePasskey',
  'DeletePasskey',
  'CreateGrant',
  'ManualGrant',
  'PortWalkGrant',
  'GrantVerified',
  'GrantFailed',
  'GrantExpired',
  'RevokeGrant',
  'RevokeVerified',
  'RevokeFailed',
  'AddressMoved',
  'AddressRefused',
  'AllowlistRetrieved',
  'ListRefreshed',
  'ListRefreshFailed',
  'Drift',
  'CreateACL',
  'UpdateACL',
  'DeleteACL',
  'CreateBackend',
  'UpdateBackend',
  'DeleteBackend',
  'CreateKnoc',
  'UpdateKnoc',
  'DeleteKnoc',
  'CreateAgent',
  'UpdateAgent',
  'DeleteAgent',
  'AgentEnrolled',
  'AgentRefused',
  'AgentConflict',
  'CreateApiKey',
  'UpdateApiKey',
  'CreateUser',
  'UpdateUser',
  'DeleteUser',
  'CreateGroup',
  'UpdateGroup',
  'DeleteGroup',
  'CreateAdmin',
  'UpdateAdmin',
  'DeleteAdmin',
  'ChangePassword',
  'UpdateSettings',
  'UpdateLicence',
  'TargetForgotten',
] as const
export type AuditKind = (typeof auditKinds)[number]

/** The seven named fields of an entry, absent when unknown; console §3 "Audit entry". */
export type AuditFields = {
  UserName?: string
  AdminName?: string
  AgentName?: string
  IpAddress?: string
  ErrorMessage?: string
  AclDescription?: string
  Description?: string
}

/** One fact to write down. `detail` is free data without secrets. */
export type AuditEvent = {
  kind: AuditKind
  fields: AuditFields
  detail?: Record<string, unknown>
}
