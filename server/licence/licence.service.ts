import type { Kysely } from 'kysely'
import { type Licence, userAllowance, userOverage } from '#machines/licence.ts'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { LicensingSummary } from '../status/status.schema.ts'
import type { LicencePayload, LicenceStatus } from './licence.schema.ts'
import {
  countMachines,
  countUsers,
  type Evaluation,
  evaluateEnd,
  findLicence,
  insertLicence,
  isPast,
  type LicenceRow,
  markLicensedUsers,
  relicenseUsers,
  removeCurrent,
} from './licence.store.ts'
import { readLicence } from './licence-key.ts'

/** Whether knocs may be made and changed and new grants given. What is open doesn't depend on it. */
export async function isLicensed(db: Kysely<DB>): Promise<boolean> {
  return isInForce(await findLicence(db))
}

/** Throws err.unlicensed without a licence in force. */
export async function checkLicensed(db: Kysely<DB>): Promise<void> {
  if (!(await isLicensed(db))) throw apiError('err.unlicensed')
}

/** The licence as both shells' status tells it. */
export async function licensingSummary(db: Kysely<DB>): Promise<LicensingSummary> {
  const row = await findLicence(db)
  return {
    Licensed: isInForce(row),
    Expires: row?.expiresAt.toISOString() ?? null,
    UserLimit: row?.userLimit ?? null,
    UserLimitOverage: row === undefined ? null : userOverage(row.userLimit, row.overagePercentage),
    UserLimitOveragePercentage: row?.overagePercentage ?? null,
    SessionLimit: row?.sessionLimit ?? null,
  }
}

/** The licence as its own screen shows it. */
export async function licenceStatus(db: Kysely<DB>): Promise<LicenceStatus> {
  const [row, machines] = [await findLicence(db), await countMachines(db)]
  return {
    Licensed: isInForce(row),
    ID: row?.licenceId ?? null,
    UserLimit: row?.userLimit ?? null,
    SessionLimit: row?.sessionLimit ?? null,
    MaxMachines: row?.machineLimit ?? null,
    MachineCount: machines,
    Expires: row?.expiresAt.toISOString() ?? null,
  }
}

/**
 * Saves a licence in place of the present one, in one step: nothing closes in between. Who is beyond its limit
 * loses access with it. Throws err.invalidLicence, err.licenceExpired.
 */
export async function saveLicence(
  { db, config, rights }: Pick<Deps, 'db' | 'config' | 'rights'>,
  { key, by, requestId }: Acting & { key: string },
): Promise<void> {
  const payload = checkKey(key, config.licencePublicKey)
  if (await isPast(db.grants, payload.expires)) throw apiError('err.licenceExpired')
  await rights.change({ everybody: true }, 'licenceRemoved', async (tx) => {
    await removeCurrent(tx)
    await insertLicence(tx, { key, payload, by })
    await markLicensedUsers(tx, await mostUsers(tx))
    const detail = { users: payload.users, sessions: payload.sessions, expires: payload.expires }
    await tell(tx, { by, requestId, description: `licence ${payload.id} saved`, detail })
  })
}

/** Removes the licence: every door closes at once. Throws err.notFound when there is none. */
export async function removeLicence(
  { rights }: Pick<Deps, 'rights'>,
  { by, requestId }: Acting,
): Promise<void> {
  await rights.change({ everybody: true }, 'licenceRemoved', async (tx) => {
    const licenceId = await removeCurrent(tx)
    if (licenceId === undefined) throw apiError('err.notFound')
    await markLicensedUsers(tx, null)
    await tell(tx, { by, requestId, description: `licence ${licenceId} removed` })
  })
}

/**
 * Checks the recorded licence anew and judges its end. Throws err.failedToRefreshLicenseStatus when there is none
 * or it isn't signed by the present key.
 */
export async function refreshLicence({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<LicenceStatus> {
  const row = await findLicence(db.grants)
  const isGenuine =
    row !== undefined &&
    config.licencePublicKey !== undefined &&
    readLicence(row.licenceKey, config.licencePublicKey) !== undefined
  if (!isGenuine) throw apiError('err.failedToRefreshLicenseStatus')
  await evaluateLicence(db.grants)
  return licenceStatus(db.grants)
}

/**
 * Judges the licence's end by the database's clock; a sweep calls it every minute or so on any replica. An end
 * counts when it was seen at two evaluations ten minutes apart, and closes nothing (decision 34). Users who fit
 * the limit again are licensed again.
 */
export async function evaluateLicence(db: Kysely<DB>): Promise<Evaluation> {
  return inTransaction(db, async (tx) => {
    const evaluation = await evaluateEnd(tx)
    const description = tellings[evaluation]
    if (description !== undefined) await tell(tx, { by: null, requestId: null, description })
    await relicenseUsers(tx, await mostUsers(tx))
    return evaluation
  })
}

/** What an evaluation has to tell the audit log. */
const tellings: Partial<Record<Evaluation, string>> = {
  ended: 'licence ended',
  backInTime: 'the database’s clock went back before the licence’s end',
}

/** How many users the licence in force keeps, oldest first; null for all. Its limits hold until it is removed. */
async function mostUsers(tx: Kysely<DB>): Promise<number | null> {
  const row = await findLicence(tx)
  return userAllowance(row === undefined ? null : toLicence(row), await countUsers(tx)).licensedUsers
}

const isInForce = (row: LicenceRow | undefined): boolean => row !== undefined && row.endedAt === null

const toLicence = ({ userLimit, sessionLimit, overagePercentage, expiresAt }: LicenceRow): Licence => ({
  userLimit,
  sessionLimit,
  overagePercentage,
  expiresAt: expiresAt.getTime(),
})

function checkKey(key: string, publicKey: string | undefined): LicencePayload {
  if (publicKey === undefined)
    throw apiError('err.invalidLicence', { detail: 'KNOC_LICENCE_PUBLIC_KEY is not set' })
  const payload = readLicence(key, publicKey)
  if (payload === undefined) throw apiError('err.invalidLicence')
  return payload
}

async function tell(
  tx: Kysely<DB>,
  facts: {
    by: string | null
    requestId: string | null
    description: string
    detail?: Record<string, unknown>
  },
): Promise<void> {
  const { by, requestId, description, detail } = facts
  const fields = { ...(by !== null && { AdminName: by }), Description: description }
  await writeAudit(tx, [{ kind: 'UpdateLicence', fields, ...(detail && { detail }) }], requestId)
}
