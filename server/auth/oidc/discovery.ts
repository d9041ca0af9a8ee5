import { createHash } from 'node:crypto'
import { createRemoteJWKSet, customFetch as keyFetch, type RemoteJWKSet } from 'jose'
import * as oidc from 'openid-client'
import type { Config } from '../../platform/config.ts'
import { isRemoteHttp } from '../../platform/config-values.ts'
import type { OidcSettings } from '../../settings/auth-setting.query.ts'
import { findReason } from './oidc-reason.ts'
import { fetchFromProvider, providerSeconds, unavailable } from './provider-fetch.ts'

/** An OpenID provider as signing in and its own calls use it. */
export type Provider = {
  configuration: oidc.Configuration
  /** As the provider spells itself: the first half of every subject. */
  issuer: string
  clientId: string
  /** Signatures that count: asymmetric ones that the provider announces. */
  algorithms: readonly string[]
  /** What is asked for. */
  scope: string
  /** Its signing keys, for what it sends on its own. */
  keys: RemoteJWKSet
}

/** How long the metadata of a provider is used, in milliseconds. */
const usedForMilliseconds = 10 * 60_000
/** Two realms, and what an administrator tries out. */
const mostProviders = 16

/** With anything symmetric, whoever knows a public key or a secret could sign in the provider's name. */
const asymmetric = new Set([
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
])

const known = new Map<string, { provider: Promise<Provider>; readAt: number }>()

/**
 * Reads a provider's metadata (OpenID Connect Discovery 1.0), at most every ten minutes on a replica; who asks at the
 * same time shares one request, and a failure is asked for again by the next one. Plain http is only for a provider
 * on this host, or with KNOC_ALLOW_HTTP.
 *
 * @throws err.identityProviderUnavailable; its `detail` says why.
 */
export async function discoverProvider(
  settings: OidcSettings,
  { allowHttp }: Pick<Config, 'allowHttp'>,
): Promise<Provider> {
  const key = keyOf(settings)
  const found = known.get(key)
  if (found !== undefined && Date.now() - found.readAt < usedForMilliseconds) return found.provider
  const provider = readProvider(settings, allowHttp)
  known.delete(key)
  known.set(key, { provider, readAt: Date.now() })
  for (const oldest of known.keys().take(Math.max(0, known.size - mostProviders))) known.delete(oldest)
  provider.catch(() => {
    if (known.get(key)?.provider === provider) known.delete(key)
  })
  return provider
}

function keyOf({ issuer, clientId, clientSecret }: OidcSettings): string {
  const parts = JSON.stringify([issuer, clientId, clientSecret?.expose() ?? null])
  return createHash('sha256').update(parts).digest('base64url')
}

async function readProvider(settings: OidcSettings, allowHttp: boolean): Promise<Provider> {
  const { issuer, clientId } = settings
  if (!URL.canParse(issuer)) throw unavailable('the issuer is no address')
  if (isRemoteHttp(issuer) && !allowHttp) throw unavailable('the issuer is plain http on another host')
  const isHttp = new URL(issuer).protocol === 'http:'
  try {
    const metadata = await readMetadata(issuer, clientId, isHttp)
    const algorithms = (metadata.id_token_signing_alg_values_supported ?? ['RS256']).filter((name) =>
      asymmetric.has(name),
    )
    return {
      configuration: configure(
        settings,
        { ...metadata, id_token_signing_alg_values_supported: algorithms },
        isHttp,
      ),
      issuer: metadata.issuer,
      clientId,
      algorithms,
      scope: toScope(metadata.scopes_supported),
      keys: createRemoteJWKSet(checkEndpoints(metadata, isHttp), { [keyFetch]: fetchFromProvider }),
    }
  } catch (error) {
    throw unavailable(findReason(error), error)
  }
}

async function readMetadata(issuer: string, clientId: string, isHttp: boolean): Promise<oidc.ServerMetadata> {
  const address = new URL(issuer.replace(/\/\.well-known\/openid-configuration$/, ''))
  const configuration = await oidc.discovery(address, clientId, undefined, oidc.None(), {
    timeout: providerSeconds,
    [oidc.customFetch]: fetchFromProvider,
    ...(isHttp && { execute: [oidc.allowInsecureRequests] }),
  })
  const { ...metadata } = configuration.serverMetadata()
  // The library lets some providers answer for every tenant at once: anybody in the world could sign in.
  if (new URL(metadata.issuer).href !== address.href)
    throw new Error(`the metadata is that of ${metadata.issuer.slice(0, 200)}`)
  return metadata
}

function configure(
  { clientId, clientSecret }: OidcSettings,
  metadata: oidc.ServerMetadata,
  isHttp: boolean,
): oidc.Configuration {
  const configuration = new oidc.Configuration(
    metadata,
    clientId,
    undefined,
    clientSecret === null
      ? oidc.None()
      : secretMethod(metadata.token_endpoint_auth_methods_supported)(clientSecret.expose()),
  )
  configuration.timeout = providerSeconds
  configuration[oidc.customFetch] = fetchFromProvider
  // A token that came over TLS from its maker needs no signature (OpenID Connect Core 3.1.3.7); we check it all the same.
  oidc.enableNonRepudiationChecks(configuration)
  if (isHttp) oidc.allowInsecureRequests(configuration)
  return configuration
}

/** Where the provider says nothing it takes the secret in the header (OpenID Connect Discovery 1.0 §3). */
function secretMethod(methods: readonly string[] = ['client_secret_basic']) {
  return methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost
}

/** Scopes a provider doesn't know may be an error there; one that lists none gets the standard's own. */
function toScope(supported: readonly string[] = ['profile', 'email']): string {
  return ['openid', ...['profile', 'email', 'groups'].filter((scope) => supported.includes(scope))].join(' ')
}

function checkEndpoints(metadata: oidc.ServerMetadata, isHttp: boolean): URL {
  const { authorization_endpoint, token_endpoint, jwks_uri } = metadata
  for (const [name, address] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri })) {
    if (address === undefined || !URL.canParse(address)) throw new Error(`the metadata has no ${name}`)
    if (new URL(address).protocol !== 'https:' && !isHttp) throw new Error(`${name} is not https`)
  }
  return new URL(jwks_uri ?? '')
}
