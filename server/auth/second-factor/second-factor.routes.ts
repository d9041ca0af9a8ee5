import { Hono } from 'hono'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import type { AuthDeps } from '../auth.routes.ts'

/** The second step of signing in: codes, enrolment, recovery. Portal §7 `/otp/*`, `/admin/otp/*`. */
export const secondFactorRoutes = (_deps: AuthDeps) => new Hono<HttpEnv>()
