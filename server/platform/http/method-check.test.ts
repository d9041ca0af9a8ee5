import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { createLog } from '../log.ts'
import { errorHandler } from './error-handler.ts'
import type { HttpEnv } from './http-env.ts'
import { methodCheck } from './method-check.ts'

const api = new Hono<HttpEnv>()
  .use('/things/*', (_c, next) => next())
  .get('/things', (c) => c.text('all'))
  .put('/things/:id', (c) => c.text('one'))
  .delete('/things/:id', (c) => c.text('none'))
const app = new Hono<HttpEnv>()
  .onError(errorHandler({ log: createLog({ logLevel: 'silent', replica: 'test' }) }))
  .route('/api', api)
  .all('/api/*', methodCheck(api.routes.map((route) => ({ ...route, path: `/api${route.path}` }))))

it('says which methods a path has', async () => {
  const answer = await app.request('/api/things/7', { method: 'POST' })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('Allow')).toBe('PUT, DELETE')
  expect(await answer.json()).toEqual({ Err: 'err.methodNotAllowed' })
})

it('knows nothing of paths that nobody answers, whatever middleware stands before them', async () => {
  for (const path of ['/api/nothing', '/api/things/7/8', '/api/things.']) {
    const answer = await app.request(path)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ Err: 'err.notFound' })
  }
})

it('leaves alone what is answered', async () => {
  expect(await (await app.request('/api/things')).text()).toBe('all')
})
