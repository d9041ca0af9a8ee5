import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { isUniqueViolation } from '../platform/database-errors.ts'

/** How long an enrolment token is good. Specification README "Agent token". */
const tokenDays = 7

/** A token as it is kept: hashed to be found, sealed to be shown until it is used. */
export type StoredToken = { hash: string; sealed: string }

/** Inserts an agent; throws err.agentNameTaken. */
export async function insertAgent(
  tx: Kysely<DB>,
  { id, name, token }: { id: string; name: string; token: StoredToken },
): Promise<void> {
  await orNameTaken(
    tx
      .insertInto('agents')
      .values({ id, name, tokenHash: token.hash, tokenSealed: token.sealed, tokenExpiresAt: tokenEnd })
      .execute(),
  )
}

/** Gives an agent another name; throws err.agentNameTaken. */
export async function renameAgent(tx: Kysely<DB>, id: string, name: string): Promise<void> {
  await orNameTaken(
    tx.updateTable('agents').set({ name, lastModifiedAt: sql`now()` }).where('id', '=', id).execute(),
  )
}

/** An agent's row, locked against a second change of it and against new backends. */
export async function lockAgent(
  tx: Kysely<DB>,
  id: string,
): Promise<{ id: string; name: string; enrolledAt: Date | null }> {
  const agent = await tx
    .selectFrom('agents')
    .select(['id', 'name', 'enrolledAt'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (agent === undefined) throw apiError('err.notFound')
  return agent
}

/** Whether backends hang on an agent. */
export async function hasBackends(tx: Kysely<DB>, id: string): Promise<boolean> {
  const rows = await tx
    .selectFrom('backends')
    .select('id')
    .where('agentId', '=', id)
    .where('deletedAt', 'is', null)
    .limit(1)
    .execute()
  return rows.length > 0
}

/** Marks an agent deleted. Its keys stay, so that it is told 'unknown' and nobody else can take its place. */
export async function markAgentDeleted(tx: Kysely<DB>, id: string): Promise<void> {
  await tx
    .updateTable('agents')
    .set({ deletedAt: sql`now()`, tokenHash: null, tokenSealed: null, tokenExpiresAt: null })
    .where('id', '=', id)
    .execute()
}

/**
 * A new enrolment token in place of the old one; the agent's key pair is let go. The raised link epoch ends a link
 * that stands, on whichever replica, even if nobody gets to tell it.
 */
export async function replaceToken(tx: Kysely<DB>, id: string, token: StoredToken): Promise<void> {
  await tx
    .updateTable('agents')
    .set({
      tokenHash: token.hash,
      tokenSealed: token.sealed,
      tokenExpiresAt: tokenEnd,
      enrolledAt: null,
      publicKey: null,
      sealingKey: null,
      machineId: null,
      conflictAt: null,
      linkEpoch: sql`link_epoch + 1`,
      lastModifiedAt: sql`now()`,
    })
    .where('id', '=', id)
    .execute()
}

const tokenEnd = sql<Date>`now() + make_interval(days => ${sql.lit(tokenDays)})`

async function orNameTaken(act: Promise<unknown>): Promise<void> {
  try {
    await act
  } catch (error) {
    if (isUniqueViolation(error, 'agents_name')) throw apiError('err.agentNameTaken', { cause: error })
    throw error
  }
}
