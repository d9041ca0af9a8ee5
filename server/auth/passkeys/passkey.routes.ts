import { Hono } from 'hono'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import type { AuthDeps } from '../auth.routes.ts'

/** Passkeys (WebAuthn) of both realms: registering, naming, removing, signing in, and as the second step. */
export const passkeyRoutes = (_deps: AuthDeps) => new Hono<HttpEnv>()
