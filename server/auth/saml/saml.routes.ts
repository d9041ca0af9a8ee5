import { Hono } from 'hono'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import type { AuthDeps } from '../auth.routes.ts'

/** SAML of both realms: service provider's metadata, the way to the identity provider, and back. */
export const samlRoutes = (_deps: AuthDeps) => new Hono<HttpEnv>()
