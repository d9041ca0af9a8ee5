import { writeAudit } from '../../audit/audit.store.ts'
import type { Deps } from '../../context.ts'
import { ApiError, apiError } from '../../errors.ts'
import { toClientKey } from '../../platform/http/ip-address.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { type AuthSettings, readAuthSettings, type SamlSettings } from '../../settings/auth-setting.query.ts'
import { admitAdmin } from '../admin-admission.service.ts'
import type { Arrival } from '../arrival.ts'
import { countInWindow, readWindowWait } from '../failure-counter.store.ts'
import type { Account } from '../identity/identity.ts'
import { findIdentityAdmin, findOrCreateUser, type Identity } from '../identity/identity-account.service.ts'
import { findIdentityRequest, openIdentityRequest } from '../identity/identity-request.store.ts'
import { admitUser, type UserAdmissionDeps } from '../user-admission.service.ts'
import { createAuthnRequest } from './authn-request.ts'
import { type Asserted, checkAssertion } from './check-assertion.ts'
import type { IdpMetadataSource } from './idp-metadata-source.ts'
import { readResponse, refusal } from './read-response.ts'
import { endpointsOf, toServiceProvider } from './service-provider.ts'
import { verifyResponse } from './verify-response.ts'

export type SamlDeps = UserAdmissionDeps &
  Pick<Deps, 'sealer' | 'config'> & { idpMetadata: IdpMetadataSource }

/** A browser on its way to the identity provider. */
export type SamlBeginning = {
  kiosk: boolean
  /** Hash of the pre-login cookie. */
  browserHash: string
  /** The browser's session so far: a page of another site can't bring its cookie back with the answer. */
  replaces: string | undefined
}

/** The form that a browser brings from the identity provider, and the browser. */
export type SamlAnswer = {
  response: string | undefined
  relayState: string | undefined
  /** Hash of the pre-login cookie; undefined when there is none. */
  browserHash: string | undefined
  /** `kiosk` is not known yet. */
  arrival: Arrival
}

/**
 * Forms without any proof that the audit log takes from one address (IPv6: one /64). Nothing in them can be guessed, so
 * more of them are refused as ever and nobody else at that address is (decision 33); they only leave no line each.
 */
const unprovenOfAnAddress = { failures: 300, seconds: 300 }

/**
 * Sends a browser to the identity provider, and remembers which browser it was.
 *
 * @returns the address to go to.
 * @throws err.samlNotConfigured, err.identityProviderUnavailable
 */
export async function beginSamlSignIn(
  deps: SamlDeps,
  realm: Realm,
  { kiosk, browserHash, replaces }: SamlBeginning,
): Promise<string> {
  const { settings, saml } = await readSaml(deps, realm)
  const idp = await deps.idpMetadata.read(saml)
  if (idp.wantsSignedRequests && saml.keyPair === null)
    throw apiError('err.samlNotConfigured', { detail: 'the provider wants signed requests; there is no key' })
  const ours = { ...endpointsOf(settings, realm), keyPair: saml.keyPair }
  const { id, url } = createAuthnRequest(idp, ours, { kiosk, relayState: `kioskMode=${kiosk}` })
  await openIdentityRequest(deps.db.grants, {
    realm,
    kind: 'saml',
    requestId: id,
    browserHash,
    facts: { kiosk, replaces: replaces && deps.sealer.seal(replaces, placeOf(id)) },
  })
  return url
}

/**
 * Signs in whom the identity provider names, if it is its answer to this browser's request; makes users at their first
 * sign-in. Every refusal is audited with its reason, which nobody else is told.
 *
 * @throws err.authenticationFailed, err.samlNotConfigured, err.identityProviderUnavailable, err.loginNotPermitted,
 * err.userLimitReached, err.accountDisabled, err.serviceUnavailable
 */
export async function finishSamlSignIn(
  deps: SamlDeps,
  realm: Realm,
  answer: SamlAnswer,
): Promise<{ session: { token: string; secondsLeft: number }; kiosk: boolean }> {
  const { arrival } = answer
  let userName: string | undefined
  try {
    const asserted = await proveIdentity(deps, realm, answer)
    userName = asserted.userName
    const kiosk =
      realm === 'user' && (asserted.facts.kiosk === true || answer.relayState === 'kioskMode=true')
    const replaces = arrival.replaces ?? openReplaced(deps, asserted)
    return { session: await admit(deps, realm, asserted, { ...arrival, kiosk, replaces }), kiosk }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500)
      await auditRefusal(deps, realm, error, arrival, userName)
    throw error
  }
}

/** From the form to a name that can be believed: cheap refusals first, so that only what was asked for costs more. */
async function proveIdentity(
  deps: SamlDeps,
  realm: Realm,
  { response: field, browserHash }: SamlAnswer,
): Promise<Asserted> {
  if (browserHash === undefined) throw refusal('the browser has no pre-login cookie')
  if (field === undefined) throw refusal('no SAMLResponse in the form')
  const { settings, saml } = await readSaml(deps, realm)
  const response = readResponse(field)
  const { entityId, consumer } = endpointsOf(settings, realm)
  if (response.inResponseTo === undefined) throw refusal('no InResponseTo: nobody asked for it')
  const asked = { realm, kind: 'saml', requestId: response.inResponseTo, browserHash } as const
  if ((await findIdentityRequest(deps.db.grants, asked)) === undefined)
    throw refusal('the response answers no open request of this browser')
  if (response.destination === undefined ? response.isSigned : response.destination !== consumer)
    throw refusal('destination is another')

  const idp = await deps.idpMetadata.read(saml)
  const verified = await verifyResponse(response, idp, toServiceProvider(settings, realm))
  return checkAssertion(deps, verified, {
    realm,
    browserHash,
    issuer: idp.entityId,
    audience: entityId,
    recipient: consumer,
  })
}

async function admit(deps: SamlDeps, realm: Realm, { userName, claims }: Asserted, arrival: Arrival) {
  const identity: Identity = { authType: 'SAML', userName, claims }
  const proven = (account: Account) => ({ account, claims, isComplete: true })
  const { session } =
    realm === 'user'
      ? await admitUser(deps, proven(await findOrCreateUser(deps, identity, arrival.requestId)), arrival)
      : await admitAdmin(deps, proven(await findIdentityAdmin(deps, identity)), arrival)
  return session
}

function openReplaced({ sealer }: SamlDeps, { requestId, facts }: Asserted): string | undefined {
  return typeof facts.replaces === 'string' ? sealer.open(facts.replaces, placeOf(requestId)) : undefined
}

const placeOf = (id: string) => ({ table: 'identity_requests', column: 'facts', id })

async function readSaml(
  deps: SamlDeps,
  realm: Realm,
): Promise<{ settings: AuthSettings; saml: SamlSettings }> {
  const settings = await readAuthSettings(deps)
  const saml = settings.saml[realm]
  if (saml === null) throw apiError('err.samlNotConfigured')
  return { settings, saml }
}

/** The name only when the identity provider's word for it was good. */
async function auditRefusal(
  { db }: SamlDeps,
  realm: Realm,
  { code, detail }: ApiError,
  { client, requestId }: Arrival,
  userName: string | undefined,
): Promise<void> {
  if (userName === undefined) {
    const bucket = `saml ${realm} ${toClientKey(client.address)}`
    if ((await readWindowWait(db.grants, bucket, unprovenOfAnAddress)) > 0) return
    await countInWindow(db.grants, bucket, unprovenOfAnAddress)
  }
  const fields = {
    IpAddress: client.address,
    ErrorMessage: code,
    ...(userName !== undefined && { [realm === 'user' ? 'UserName' : 'AdminName']: userName }),
  }
  const reason = detail ?? code
  await writeAudit(
    db.grants,
    [{ kind: 'LoginFailed', fields, detail: { realm, by: 'SAML', reason } }],
    requestId,
  )
}
