import type { AuditEvent, AuditFields, AuditKind } from '../../audit/audit.events.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { Account } from '../identity/identity.ts'

/** What the second step writes down; some kinds are one a realm. */
const kinds = {
  valid: { user: 'TOTPValidUser', admin: 'TOTPValidAdmin' },
  invalid: { user: 'TOTPInvalidUser', admin: 'TOTPInvalidAdmin' },
  enrolled: { user: 'TOTPEnrolled', admin: 'TOTPEnrolled' },
  deferred: { user: 'TOTPDeferred', admin: 'TOTPDeferred' },
  recoveryCode: { user: 'RecoveryCodeUsed', admin: 'RecoveryCodeUsed' },
} as const satisfies Record<string, Record<Realm, AuditKind>>

/** A fact of the second step of an account, at an address. */
export function secondFactorEvent(
  what: keyof typeof kinds,
  { realm, userName }: Pick<Account, 'realm' | 'userName'>,
  {
    address,
    ...more
  }: Pick<AuditFields, 'ErrorMessage'> & { address: string; detail?: Record<string, unknown> },
): AuditEvent {
  const { ErrorMessage, detail } = more
  return {
    kind: kinds[what][realm],
    fields: {
      ...(realm === 'user' ? { UserName: userName } : { AdminName: userName }),
      IpAddress: address,
      ...(ErrorMessage !== undefined && { ErrorMessage }),
    },
    ...(detail !== undefined && { detail }),
  }
}
