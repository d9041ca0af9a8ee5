import { generateKeyPairSync } from 'node:crypto'
import { sql } from 'kysely'
import { able, toSpki } from './console-api.ts'
import { anAgentRow } from './door-builders.ts'
import { type ListApi, startListApi } from './list-api.ts'

/** The whole application with an administrator and an agent, for knocs of the kind Passive+. */
export type PassivePlusApi = Awaited<ReturnType<typeof startPassivePlusApi>>

/** Starts it. No agent is linked and no firewall is there: orders and targets stay rows. */
export async function startPassivePlusApi() {
  const api = await startListApi()
  const agent = await aTeller(api)
  const bodies = bodiesFor(agent.id)

  return {
    ...api,
    ...bodies,
    agent,
    aTeller: (facts: Record<string, unknown> = {}) => aTeller(api, facts),
    aPlus: async (facts: Record<string, unknown> = {}): Promise<{ id: string; childId: string }> => {
      const { status, body } = await api.console.post('/admin/knocs', bodies.aBody(facts))
      if (status !== 201) throw new Error(`no knoc was made: ${status} ${JSON.stringify(body)}`)
      return { id: body.data.ID, childId: body.data.ChildID }
    },
    read: async (id: string) => (await api.console.get(`/admin/knocs/${id}`)).body.data,
    rowsOf: async (path: string): Promise<Row[]> => (await api.console.get(path)).body.data,
    /** The row of a list, if it is there. */
    findIn: async (path: string, id: string): Promise<Row> =>
      (await api.console.get(path)).body.data.find(({ ID }: Row) => ID === id),
    /** Lists that take an ACL's entries: one row for each family. */
    targetsOf: async (aclId: string) =>
      api.db
        .selectFrom('aclTargets')
        .innerJoin('targets', 'targets.id', 'aclTargets.targetId')
        .select(['aclTargets.family', 'targets.id', 'key', 'state', 'agentId', 'sealed'])
        .where('aclId', '=', aclId)
        .orderBy('aclTargets.family')
        .execute(),
    countAll: () => countAll(api),
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test says by its expectations what a row is.
type Row = any

/** An agent that was connected, so that secrets can be sealed to it. */
const aTeller = ({ db }: ListApi, facts: Record<string, unknown> = {}) =>
  anAgentRow(db, {
    version: '2.0.0',
    capabilities: JSON.stringify(able),
    sealingKey: toSpki(generateKeyPairSync('x25519').publicKey),
    ...facts,
  })

/** A firewall's settings; its key is in no answer. */
export const firewall = (facts: Record<string, unknown> = {}) => ({
  panos: { Hostname: 'fw.example.com', ApiKey: 'LUFRPT1-secret', ...facts },
})

let made = 0

function bodiesFor(AgentID: string) {
  const aChild = ({ backend = {}, acl = {} }: Record<string, object> = {}) => ({
    Backend: { AgentID, Config: firewall(), ...backend },
    ACL: { Config: { panos: { EDLName: `edl-${(made += 1)}` } }, ...acl },
  })
  /** The body that makes one, each with a list, a key and a firewall's list of its own. */
  const aBody = ({ ACL = {}, ...rest }: Record<string, unknown> = {}) => ({
    Backend: { AgentID: null, Config: { allowlist: {} } },
    ACL: {
      Description: `Plus ${(made += 1)}`,
      ClickToGrant: true,
      Config: { allowlist: {} },
      ...(ACL as object),
    },
    ApiKey: { Option: 'new', Name: `Plus key ${made}` },
    Child: aChild(),
    ...rest,
  })
  return { aChild, aBody }
}

/** What a refusal says. */
export const errorOf = ({ status, body }: { status: number; body: { Err?: string; Extra?: string } }) => [
  status,
  body.Err,
  body.Extra,
]

/** Everything that a creation writes, to see that nothing of it is left. */
async function countAll({ db }: ListApi) {
  const { rows } = await sql<Record<string, number>>`
    select (select count(*) from acls) as acls, (select count(*) from backends) as backends,
      (select count(*) from targets) as targets, (select count(*) from acl_targets) as acl_targets,
      (select count(*) from api_keys) as keys, (select sum(cardinality(scopes)) from api_keys) as scopes,
      (select count(*) from user_acls) as users, (select count(*) from group_acls) as groups,
      (select count(*) from audit_events) as events`.execute(db)
  return rows[0]
}
