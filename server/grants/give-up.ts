import type { Kysely } from 'kysely'
import { flappingMs, seenAgainMs } from '#machines/address-move.ts'
import type { Deps } from '../context.ts'
import type { DB } from '../platform/database.types.ts'
import { readSettings } from '../settings/setting.query.ts'
import type { GrantService } from './grant.service.ts'
import { endFailed, listDoubtfulSessions, listFailedClicks, listUntrustedClaims } from './grant.store.ts'

/** Sessions one round looks at. */
const batch = 100

/**
 * Gives up clicks that could not be opened: after 30 s of showing the error the user gets a button again, and the
 * order is taken back. Specification README "Statuses, the rest".
 */
export async function giveUpFailedClicks(db: Kysely<DB>, { rights }: Pick<Deps, 'rights'>): Promise<boolean> {
  const failed = await listFailedClicks(db, batch)
  for (const { sessionId, grantIds } of failed)
    await rights.change({ sessions: [sessionId] }, 'failed', (tx) => endFailed(tx, grantIds))
  return failed.length >= batch
}

/** Drops addresses in doubt that were not seen again in time, though no page asks any more (decision 14). */
export async function dropDoubtedAddresses(
  db: Kysely<DB>,
  { grants }: { grants: Pick<GrantService, 'follow'> },
): Promise<boolean> {
  const sessions = await listDoubtfulSessions(db, {
    doubtedSeconds: seenAgainMs / 1000,
    flappingSeconds: flappingMs / 1000,
    limit: batch,
  })
  for (const grantee of sessions) await grants.follow(grantee, null)
  return sessions.length >= batch
}

/** Closes what a foreign lookup service's word opened as soon as no administrator trusts it any more. */
export async function dropUntrustedClaims(
  db: Kysely<DB>,
  { grants }: { grants: Pick<GrantService, 'dropClaims'> },
): Promise<boolean> {
  const { TrustDiscoveryClaims } = await readSettings(db)
  if (TrustDiscoveryClaims) return false
  const sessions = await listUntrustedClaims(db, batch)
  for (const grantee of sessions) await grants.dropClaims(grantee)
  return sessions.length >= batch
}
