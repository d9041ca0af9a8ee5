import { writeAudit } from '../../audit/audit.store.ts'
import type { Deps } from '../../context.ts'
import { type ApiError, apiError } from '../../errors.ts'
import { toClientKey } from '../../platform/http/ip-address.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { Arrival } from '../arrival.ts'
import { countInWindow, type FailureWindow, readWindowWait } from '../failure-counter.store.ts'

/** As many as for passwords: an office shares an address (decision 33). */
const addressWindow: FailureWindow = { failures: 300, seconds: 300 }

/** A sign-in that was refused. */
export type RefusedSignIn = {
  realm: Realm
  /** Whom the provider proved, if it came so far. */
  userName?: string | undefined
  arrival: Pick<Arrival, 'client' | 'requestId'>
}

/**
 * Writes down why a provider's answer was refused. An address with too many failures is told to wait and writes no
 * more, so that nobody can fill the audit log; answers that are right are never counted and never held up.
 *
 * @returns the error for the login page.
 */
export async function toRefusal(
  deps: Pick<Deps, 'db' | 'log'>,
  error: ApiError,
  { realm, userName, arrival }: RefusedSignIn,
): Promise<ApiError> {
  const waitSeconds = await countRefusal(deps, `oidc ${realm}`, arrival.client.address)
  if (waitSeconds > 0)
    return apiError('err.tooManyRequests', { retryAfterSeconds: waitSeconds, cause: error })
  // The account changed between proof and session; there was no password that could be wrong.
  const code = error.code === 'err.invalidCredentials' ? 'err.authenticationFailed' : error.code
  const reason = error.detail ?? error.code
  deps.log.info({ realm, code, reason }, 'an OIDC sign-in was refused')
  await writeAudit(
    deps.db.grants,
    [
      {
        kind: 'LoginFailed',
        fields: {
          ...(userName !== undefined && { [realm === 'user' ? 'UserName' : 'AdminName']: userName }),
          IpAddress: arrival.client.address,
          ErrorMessage: code,
        },
        detail: { realm, by: 'OIDC', reason },
      },
    ],
    arrival.requestId,
  )
  return code === error.code ? error : apiError(code, { cause: error })
}

/** Counts what an address did wrong; the seconds until it is written down again, 0 while it is. */
export async function countRefusal({ db }: Pick<Deps, 'db'>, what: string, address: string): Promise<number> {
  const bucket = `${what} ${toClientKey(address)}`
  const waitSeconds = await readWindowWait(db.grants, bucket, addressWindow)
  if (waitSeconds === 0) await countInWindow(db.grants, bucket, addressWindow)
  return waitSeconds
}
