import { type Context, Hono } from 'hono'
import { created, ok } from '../../platform/http/envelope.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { validate } from '../../platform/http/validate.ts'
import { idParamSchema } from '../../platform/wire.schema.ts'
import { type Realm, sessionCookies } from '../../sessions/session-cookie.ts'
import { arrivalOf, toAddress } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import { browserBinding } from '../identity/browser-binding.ts'
import { listPasskeys, type PasskeyView } from './passkey.query.ts'
import {
  type PasskeyRow,
  passkeyCreationSchema,
  passkeyLoginSchema,
  passkeyOptionsSchema,
  passkeyProofSchema,
  passkeyUpdateSchema,
} from './passkey.schema.ts'
import { createPasskey, deletePasskey, renamePasskey } from './passkey.service.ts'
import { creationOptions, loginOptions, stepOptions } from './passkey-options.service.ts'
import { type OwnerEnv, requireHalf, requireManager } from './passkey-owner.ts'
import { type PasskeySession, signInWithPasskey, verifyPasskeyStep } from './passkey-sign-in.service.ts'

/** Passkeys (WebAuthn) of both realms: registering, naming, removing, signing in, and as the second step. */
export const passkeyRoutes = (deps: AuthDeps) =>
  new Hono<HttpEnv>()
    .route('/', userLoginRoutes(deps))
    .route('/', ownerRoutes(deps, 'user'))
    .route('/admin', adminLoginRoutes(deps))
    .route('/admin', ownerRoutes(deps, 'admin'))

function userLoginRoutes(deps: AuthDeps) {
  const { options, answerOf, accept } = signingIn(deps, 'user')
  return new Hono<HttpEnv>()
    .post('/login/passkey/options', validate('json', passkeyOptionsSchema), options)
    .post('/login/passkey', validate('json', passkeyLoginSchema), async (c) => {
      const { Response, KioskMode: kiosk } = c.req.valid('json')
      const session = await signInWithPasskey(deps, 'user', answerOf(c, Response, kiosk))
      return accept(c, session, kiosk)
    })
}

function adminLoginRoutes(deps: AuthDeps) {
  const { options, answerOf, accept } = signingIn(deps, 'admin')
  return new Hono<HttpEnv>()
    .post('/login/passkey/options', validate('json', passkeyOptionsSchema), options)
    .post('/login/passkey', validate('json', passkeyProofSchema), async (c) => {
      const answer = answerOf(c, c.req.valid('json').Response, false)
      return accept(c, await signInWithPasskey(deps, 'admin', answer), false)
    })
}

/** What an account does with its own passkeys: the second step of a half session, and looking after them. */
function ownerRoutes(deps: AuthDeps, realm: Realm) {
  const { binding, answerOf, accept } = signingIn(deps, realm)
  const half = requireHalf(deps, realm)
  const manager = requireManager(deps, realm)
  return new Hono<HttpEnv & OwnerEnv>()
    .post('/otp/passkey/options', half, validate('json', passkeyOptionsSchema), async (c) =>
      ok(c, await stepOptions(deps, c.var.owner, binding.bind(c))),
    )
    .post('/otp/passkey', half, validate('json', passkeyProofSchema), async (c) => {
      const { owner } = c.var
      const answer = answerOf(c, c.req.valid('json').Response, owner.kiosk)
      return accept(c, await verifyPasskeyStep(deps, owner, answer), owner.kiosk)
    })
    .get('/passkeys', manager, async (c) =>
      ok(c, (await listPasskeys(deps.db.lists, c.var.owner)).map(toPasskeyRow)),
    )
    .post('/passkeys/options', manager, validate('json', passkeyOptionsSchema), async (c) =>
      ok(c, await creationOptions(deps, c.var.owner, binding.bind(c))),
    )
    .post('/passkeys', manager, validate('json', passkeyCreationSchema), async (c) => {
      const { Name: name, Response: response } = c.req.valid('json')
      const browserHash = binding.read(c)
      return created(c, await createPasskey(deps, { ...acting(c), name, response, browserHash }))
    })
    .put(
      '/passkeys/:id',
      manager,
      validate('param', idParamSchema),
      validate('json', passkeyUpdateSchema),
      async (c) => {
        const { id } = c.req.valid('param')
        await renamePasskey(deps, { ...acting(c), id, name: c.req.valid('json').Name })
        return ok(c, null)
      },
    )
    .delete('/passkeys/:id', manager, validate('param', idParamSchema), async (c) => {
      await deletePasskey(deps, { ...acting(c), id: c.req.valid('param').id })
      return ok(c, null)
    })
}

/** What signing in has in common, alone and as the second step: the browser's binding, its answer, its cookie. */
function signingIn(deps: AuthDeps, realm: Realm) {
  const binding = browserBinding(deps.config)
  const cookies = sessionCookies(deps.config)
  return {
    binding,
    options: async (c: Context) => ok(c, await loginOptions(deps, realm, binding.bind(c))),
    answerOf: <Response>(c: Context, response: Response, kiosk: boolean) => ({
      response,
      browserHash: binding.read(c),
      arrival: arrivalOf(c, { kiosk, replaces: cookies.read(c, realm) }),
    }),
    accept: (c: Context, session: PasskeySession, kiosk: boolean) => {
      cookies.set(c, realm, { ...session, kiosk })
      return ok(c, null)
    },
  }
}

const acting = (c: Context<HttpEnv & OwnerEnv>) => ({
  owner: c.var.owner,
  address: toAddress(c.var.client.address),
  requestId: c.var.requestId ?? null,
})

const toPasskeyRow = ({ id, name, createdAt, lastUsedAt }: PasskeyView): PasskeyRow => ({
  ID: id,
  Name: name,
  CreatedAt: createdAt.toISOString(),
  LastUsedAt: lastUsedAt?.toISOString() ?? null,
})
