import { Hono } from 'hono'
import type { Deps } from '../context.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { isDatabaseWritable } from './health.query.ts'

/**
 * For load balancers: `/health` while the process answers, `/ready` while it can do its work. Without the queue
 * everything works a second later, so that is `degraded`, not unready (decision 23).
 */
export function healthRoutes({ db, queueHealth }: Pick<Deps, 'db' | 'queueHealth'>) {
  return new Hono<HttpEnv>()
    .get('/health', (c) => c.json({ status: 'ok' }))
    .get('/ready', async (c) => {
      if (!(await isDatabaseWritable(db.background))) return c.json({ status: 'unavailable' }, 503)
      return c.json({ status: (await queueHealth()).degraded === null ? 'ok' : 'degraded' })
    })
}
