import type { Deps } from '../../context.ts'
import { ApiError, apiError } from '../../errors.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { readAuthSettings } from '../../settings/auth-setting.query.ts'
import { admitAdmin } from '../admin-admission.service.ts'
import type { Arrival } from '../arrival.ts'
import type { Proven } from '../identity/identity.ts'
import { findIdentityAdmin, findOrCreateUser, type Identity } from '../identity/identity-account.service.ts'
import { findIdentityRequest, useIdentityRequest } from '../identity/identity-request.store.ts'
import { admitUser, type UserAdmissionDeps } from '../user-admission.service.ts'
import { toIdentity, toIdentitySession } from './oidc-claims.ts'
import { exchangeAnswer } from './oidc-exchange.ts'
import { toRefusal } from './oidc-refusal.service.ts'
import { findProvider, oidcFactsSchema, verifierPlace } from './oidc-start.service.ts'

/** A browser that comes back from its provider. */
export type OidcAnswer = {
  realm: Realm
  /** What the provider put behind the address. */
  parameters: URLSearchParams
  /** Hash of the browser's pre-login cookie. */
  browserHash: string | undefined
  arrival: Omit<Arrival, 'kiosk'>
}

/** A session just made, for its cookie. */
export type OidcSession = { token: string; secondsLeft: number; kiosk: boolean }

/** Whom a provider proved, and the request it answered. */
type Proof = { identity: Identity; identitySession: string | undefined; state: string; kiosk: boolean }

type CallbackDeps = UserAdmissionDeps & Pick<Deps, 'sealer' | 'config'>

/**
 * Signs in whom a provider proved, in either realm. Every refusal is audited with its reason, and nothing is signed
 * in then. The state is used up once over all replicas, and only when everything else was right: a forged answer
 * can't take it from its owner.
 *
 * @throws err.authenticationFailed, err.loginNotPermitted, err.accountDisabled, err.userLimitReached,
 * err.oidcNotConfigured, err.identityProviderUnavailable, err.tooManyRequests
 */
export async function finishOidcSignIn(deps: CallbackDeps, answer: OidcAnswer): Promise<OidcSession> {
  let userName: string | undefined
  try {
    const proof = await prove(deps, answer)
    if (!(await useIdentityRequest(deps.db.grants, proof.state))) throw refused('the state was used before')
    userName = proof.identity.userName
    return await admit(deps, answer, proof)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw await toRefusal(deps, error, { ...answer, userName })
  }
}

async function prove(deps: CallbackDeps, { realm, parameters, browserHash }: OidcAnswer): Promise<Proof> {
  const state = parameters.get('state')
  if (state === null || !/^[\w-]{43}$/.test(state)) throw refused('the answer has no state of ours')
  if (browserHash === undefined) throw refused('the browser has no pre-login cookie')
  const wanted = { realm, kind: 'oidc', requestId: state, browserHash } as const
  const request = await findIdentityRequest(deps.db.grants, wanted)
  if (request === undefined) throw refused('the state is of no open request of this browser and realm')
  const { codeVerifier, kiosk, ...facts } = oidcFactsSchema.parse(request.facts)
  const provider = await findProvider(deps, await readAuthSettings(deps), realm)
  if (provider.issuer !== facts.issuer || provider.clientId !== facts.clientId)
    throw refused('the provider was replaced meanwhile')
  const sent = { ...facts, state, codeVerifier: deps.sealer.open(codeVerifier, verifierPlace(state)) }
  const claims = await exchangeAnswer(provider, parameters, sent)
  return { identity: toIdentity(claims), identitySession: toIdentitySession(claims), state, kiosk }
}

async function admit(
  deps: CallbackDeps,
  { realm, arrival }: OidcAnswer,
  { identity, identitySession, kiosk }: Proof,
): Promise<OidcSession> {
  const findAccount = async () =>
    realm === 'user' ? findOrCreateUser(deps, identity, arrival.requestId) : findIdentityAdmin(deps, identity)
  const proven: Proven = {
    account: await findAccount(),
    claims: identity.claims,
    // Second factors are the provider's business.
    isComplete: true,
    ...(identitySession !== undefined && { identitySession }),
  }
  const { session } = await (realm === 'user' ? admitUser : admitAdmin)(deps, proven, { ...arrival, kiosk })
  return { token: session.token, secondsLeft: session.secondsLeft, kiosk }
}

const refused = (detail: string): ApiError => apiError('err.authenticationFailed', { detail })
