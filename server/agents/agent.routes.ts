import { Hono } from 'hono'
import { actingAdmin } from '../audit/acting-admin.ts'
import type { Deps } from '../context.ts'
import { checkId } from '../platform/http/check-id.ts'
import { created, ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { listed } from '../platform/http/list.ts'
import { validate } from '../platform/http/validate.ts'
import { idParamSchema, listQuerySchema } from '../platform/wire.schema.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { toDetail, toRow } from './agent.answer.ts'
import { getAgent, listAgents } from './agent.query.ts'
import { agentSchema, agentTokenSchema } from './agent.schema.ts'
import { createAgent, deleteAgent, openToken, renewToken, updateAgent } from './agent.service.ts'
import { getAgentHead, listDebtsOfAgent } from './agent-list.query.ts'
import { forgetListSchema, listParamSchema } from './agent-list.schema.ts'
import { forgetList, readAgentLists } from './agent-list.service.ts'

/** The console's agents: list, register, rename, delete, new token, their lists and debts. Mounted at /admin/agents, behind the admin guard. */
export function agentRoutes(deps: Pick<Deps, 'db' | 'config' | 'sealer' | 'gateway'>) {
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      const { rows, total } = await listAgents(deps.db.lists, query)
      return listed(c, { rows: rows.map(toRow), total }, query)
    })
    .post('/', validate('json', agentSchema), async (c) => {
      const { Name } = c.req.valid('json')
      return created(c, await createAgent(deps, { name: Name, ...actingAdmin(c) }))
    })
    .get('/:id', validate('param', idParamSchema), async (c) => {
      const agent = await getAgent(deps.db.lists, c.req.valid('param').id)
      return ok(c, toDetail(agent, { server: deps.config.publicUrl, token: openToken(deps.sealer, agent) }))
    })
    .put('/:id', validate('param', idParamSchema), validate('json', agentSchema), async (c) => {
      const { id } = c.req.valid('param')
      const { ID, Name } = c.req.valid('json')
      checkId(id, ID)
      await updateAgent(deps, { id, name: Name, ...actingAdmin(c) })
      return ok(c, null)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteAgent(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
    .get('/:id/lists', validate('param', idParamSchema), async (c) =>
      ok(c, await readAgentLists(deps, c.req.valid('param').id)),
    )
    .get('/:id/debts', validate('param', idParamSchema), validate('query', listQuerySchema), async (c) => {
      const { id } = c.req.valid('param')
      const query = c.req.valid('query')
      await getAgentHead(deps.db.lists, id)
      return listed(c, await listDebtsOfAgent(deps.db.lists, id, query), query)
    })
    .post(
      '/:id/lists/:listId/forget',
      validate('param', listParamSchema),
      validate('json', forgetListSchema),
      async (c) => {
        const { id, listId } = c.req.valid('param')
        const reason = c.req.valid('json').Reason
        await forgetList(deps, { agentId: id, listId, reason, ...actingAdmin(c) })
        return ok(c, null)
      },
    )
    .post('/:id/token', validate('param', idParamSchema), validate('json', agentTokenSchema), async (c) => {
      const { id } = c.req.valid('param')
      return ok(c, await renewToken(deps, { id, confirm: c.req.valid('json').Confirm, ...actingAdmin(c) }))
    })
}
