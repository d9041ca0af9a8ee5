import { Hono } from 'hono'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import type { AuthDeps } from '../auth.routes.ts'

/** OIDC of both realms: the way to the provider, back, and its back-channel logout. */
export const oidcRoutes = (_deps: AuthDeps) => new Hono<HttpEnv>()
