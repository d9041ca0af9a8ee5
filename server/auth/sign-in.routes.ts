import { Hono } from 'hono'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { type AuthDeps, authRoutes } from './auth.routes.ts'
import { machineRoutes } from './machine/machine.routes.ts'
import { oidcRoutes } from './oidc/oidc.routes.ts'
import { passkeyRoutes } from './passkeys/passkey.routes.ts'
import { samlRoutes } from './saml/saml.routes.ts'
import { secondFactorRoutes } from './second-factor/second-factor.routes.ts'
import { sessionExtensionRoutes } from './session-extension.routes.ts'

/** Every way in and out, for both realms: one table. */
export const signInRoutes = (deps: AuthDeps) =>
  new Hono<HttpEnv>()
    .route('/', authRoutes(deps))
    .route('/', secondFactorRoutes(deps))
    .route('/', sessionExtensionRoutes(deps))
    .route('/', passkeyRoutes(deps))
    .route('/', samlRoutes(deps))
    .route('/', oidcRoutes(deps))
    .route('/', machineRoutes(deps))
