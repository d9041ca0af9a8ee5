import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Kysely } from 'kysely'
import { writeAudit } from '../../audit/audit.store.ts'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import { inTransaction } from '../../platform/database.ts'
import type { DB } from '../../platform/database.types.ts'
import { useIdentityRequest } from '../identity/identity-request.store.ts'
import { countPasskeysLocked, deletePasskeyRow, insertPasskey, updatePasskeyName } from './passkey.store.ts'
import { isOpenChallenge } from './passkey-challenge.service.ts'
import type { PasskeyOwner } from './passkey-owner.ts'
import { challengeOf, verifyCreation } from './passkey-verification.ts'
import { relyingPartyOf } from './relying-party.ts'

/** So many passkeys one account may have. */
const passkeysAtMost = 20

/** Who changes the own passkeys, and in which request. */
type Acting = { owner: PasskeyOwner; address: string; requestId: string | null }

/**
 * Registers the passkey that a browser made for our challenge.
 *
 * @throws err.invalidPasskey, err.passkeyKnown, err.tooManyPasskeys, err.passkeysUnavailable
 */
export async function createPasskey(
  deps: Pick<Deps, 'db' | 'config'>,
  request: Acting & { name: string; response: RegistrationResponseJSON; browserHash: string | undefined },
): Promise<{ ID: string }> {
  const { owner, name, response } = request
  const { challenge, verified } = await verify(deps, request)
  const passkey = {
    name,
    credentialId: response.id,
    publicKey: verified.publicKey,
    counter: verified.counter,
    transports: response.response.transports ?? [],
  }
  return inTransaction(deps.db.grants, async (tx) => {
    if ((await countPasskeysLocked(tx, owner)) >= passkeysAtMost)
      throw apiError('err.tooManyPasskeys', { detail: `at most ${passkeysAtMost}` })
    if (!(await useIdentityRequest(tx, challenge)))
      throw apiError('err.invalidPasskey', { detail: 'the challenge was used meanwhile' })
    const id = await insertPasskey(tx, owner, passkey)
    if (id === undefined) throw apiError('err.passkeyKnown')
    await tell(tx, 'CreatePasskey', request, { id, name })
    return { ID: id }
  })
}

/** Gives an own passkey another name. @throws err.notFound */
export async function renamePasskey(
  { db }: Pick<Deps, 'db'>,
  request: Acting & { id: string; name: string },
): Promise<void> {
  const { owner, id, name } = request
  await inTransaction(db.grants, async (tx) => {
    if (!(await updatePasskeyName(tx, owner, { id, name }))) throw apiError('err.notFound')
    await tell(tx, 'UpdatePasskey', request, { id, name })
  })
}

/**
 * Removes an own passkey, the last one too: an account that has to use a second factor and has no other enrols at
 * its next sign-in.
 *
 * @throws err.notFound
 */
export async function deletePasskey(
  { db }: Pick<Deps, 'db'>,
  request: Acting & { id: string },
): Promise<void> {
  const { owner, id } = request
  await inTransaction(db.grants, async (tx) => {
    const name = await deletePasskeyRow(tx, owner, id)
    if (name === undefined) throw apiError('err.notFound')
    await tell(tx, 'DeletePasskey', request, { id, name })
  })
}

async function verify(
  deps: Pick<Deps, 'db' | 'config'>,
  {
    owner,
    response,
    browserHash,
  }: { owner: PasskeyOwner; response: RegistrationResponseJSON; browserHash: string | undefined },
) {
  const party = relyingPartyOf(deps.config)
  const challenge = challengeOf(response.response)
  const use = { realm: owner.realm, purpose: 'creation', accountId: owner.id } as const
  if (challenge === undefined || !(await isOpenChallenge(deps, challenge, use, browserHash)))
    throw apiError('err.invalidPasskey', { detail: 'no open challenge of this browser for this' })
  const verified = await verifyCreation(party, { response, challenge })
  if (!verified.isVerified) throw apiError('err.invalidPasskey', { detail: verified.fault })
  return { challenge, verified }
}

async function tell(
  tx: Kysely<DB>,
  kind: 'CreatePasskey' | 'UpdatePasskey' | 'DeletePasskey',
  { owner, address, requestId }: Acting,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const who = owner.realm === 'user' ? { UserName: owner.userName } : { AdminName: owner.userName }
  const fields = { ...who, IpAddress: address, Description: name }
  await writeAudit(tx, [{ kind, fields, detail: { passkeyId: id } }], requestId)
}
