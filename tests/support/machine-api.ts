import { Hono } from 'hono'
import { type AppDeps, createApi } from '#server/app.ts'
import { createGrantService } from '#server/grants/grant.service.ts'
import { systemClock } from '#server/platform/clock.ts'
import { clientAddressOf } from '#server/platform/http/client-address.ts'
import { errorHandler, notFoundHandler } from '#server/platform/http/error-handler.ts'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { requestId } from '#server/platform/http/request-id.ts'
import type { PeopleApi } from './people-api.ts'

/** A request as a machine sends it: by default from 198.51.100.7, without a cookie. */
type MachineRequest = { json?: unknown; raw?: string; headers?: Record<string, string>; peer?: string }

// oxlint-disable-next-line typescript/no-explicit-any -- a test says by its expectations what an answer is
type Answer = { status: number; body: any; cookies: string[] }

/** The whole table of routes, with real grants, on the database of a `startPeopleApi`. No agent is linked. */
export function machineApiOf({ deps, db }: PeopleApi) {
  const silent = {
    gateway: { nudge: () => undefined, drop: async () => undefined },
    events: { publish: () => undefined, subscribe: () => () => undefined },
  }
  const grants = createGrantService({ ...deps, ...silent, db, isGrantable: () => true })
  // The rest of what the application is made of is asked by no route of these tests.
  const api = createApi({ ...deps, ...silent, grants, clock: systemClock } as unknown as AppDeps)
  const app = new Hono<HttpEnv>()
    .onError(errorHandler(deps))
    .notFound(notFoundHandler)
    .use(requestId())
    .use(clientAddressOf(deps.config.trustedProxies))
    .route('/api', api)

  return async function ask(
    method: string,
    path: string,
    { json, raw, headers = {}, peer = '198.51.100.7' }: MachineRequest = {},
  ): Promise<Answer> {
    const body = raw ?? (json === undefined ? undefined : JSON.stringify(json))
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const init = { method, headers: { ...type, ...headers }, ...(body !== undefined && { body }) }
    const response = await app.request(`/api${path}`, init, { peer })
    const text = await response.text()
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json') === true
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : text,
      cookies: response.headers.getSetCookie(),
    }
  }
}
