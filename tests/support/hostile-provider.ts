import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** What a token says, and how it is signed. */
export type Forgery = {
  claims?: JWTPayload
  /** Claims to leave out. */
  without?: readonly string[]
  header?: { alg?: string; kid?: string; typ?: string }
  /** `stranger`: a key that isn't the provider's; `public`: its public key as an HMAC secret; `none`: no signature. */
  key?: 'own' | 'stranger' | 'public' | 'none'
}

/** A provider that answers whatever a test tells it to; its tokens are right unless they are forged. */
export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>

const clientId = 'portal'

/** Starts it on a loopback port. `metadata` is laid over its own. */
export async function startHostileProvider(metadata: Record<string, unknown> = {}) {
  const [own, stranger] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')]
  const keys = {
    own: own.privateKey,
    stranger: stranger.privateKey,
    publicPem: await exportSPKI(own.publicKey),
  }
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', use: 'sig' }
  const told = { idToken: '', userInfo: {} as unknown, tokenStatus: 200, counts: new Map<string, number>() }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', issuer).pathname
    told.counts.set(path, (told.counts.get(path) ?? 0) + 1)
    const bodies: Record<string, unknown> = {
      '/.well-known/openid-configuration': {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        // It would take anything, and says so.
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        ...metadata,
      },
      '/jwks': { keys: [jwk] },
      '/token': { access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: told.idToken },
      '/userinfo': told.userInfo,
    }
    response.statusCode = path === '/token' ? told.tokenStatus : path in bodies ? 200 : 404
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(bodies[path] ?? {}))
  }

  return {
    issuer,
    clientId,
    /** What it answers next, and how often it was asked for each path. */
    told,
    /** An ID token for a sign-in, right unless forged. */
    idToken: (nonce: string | null, forgery: Forgery = {}) =>
      forge(
        keys,
        { iss: issuer, aud: clientId, nonce, preferred_username: 'mallory', ...times(600) },
        forgery,
      ),
    /** A logout token, right unless forged. */
    logoutToken: (forgery: Forgery = {}) =>
      forge(
        keys,
        {
          iss: issuer,
          aud: clientId,
          jti: crypto.randomUUID(),
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...times(120),
        },
        { ...forgery, header: { typ: 'logout+jwt', ...forgery.header } },
      ),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function times(seconds: number) {
  const now = Math.floor(Date.now() / 1000)
  return { iat: now, exp: now + seconds }
}

type Keys = { own: CryptoKey; stranger: CryptoKey; publicPem: string }

async function forge(
  keys: Keys,
  right: Record<string, unknown>,
  { claims = {}, without = [], header = {}, key = 'own' }: Forgery,
): Promise<string> {
  const all = Object.entries({ ...right, ...claims }).filter(([name]) => !without.includes(name))
  const payload: JWTPayload = Object.fromEntries(all)
  if (key === 'none') return `${encode({ alg: 'none', ...header })}.${encode(payload)}.`
  const token = (alg: string) => new SignJWT(payload).setProtectedHeader({ kid: 'own', alg, ...header })
  if (key === 'public') return token('HS256').sign(new TextEncoder().encode(keys.publicPem))
  return token('RS256').sign(keys[key])
}

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')
