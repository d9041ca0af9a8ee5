import type { AgentCreated, AgentRow } from '../../server/agents/agent.schema.ts'
import type { KnocCreated } from '../../server/knocs/knoc.schema.ts'
import type { ApiClient } from './api-client.ts'
import type { Arena } from './arena.ts'

/** Name and password of somebody the demo made. */
export type Account = { userName: string; name: string; password: string }

/** The demo's people. Their passwords are drawn anew by each demo. */
export const people = [
  { userName: 'alex', name: 'Alex Example' },
  { userName: 'sam', name: 'Sam Sample' },
] as const

/** Saves the licence and makes the users; their ids. */
export async function seedUsers(
  admin: ApiClient,
  { licence, users }: { licence: string; users: readonly Account[] },
): Promise<string[]> {
  await admin.request('POST', '/admin/settings/license', { License: licence })
  const ids: string[] = []
  for (const user of users) {
    const { ID } = await admin.request<{ ID: string }>('POST', '/admin/users', {
      Name: user.name,
      Company: 'Example Ltd',
      UserName: user.userName,
      PlainPassword: user.password,
      Duration: 480,
    })
    ids.push(ID)
  }
  return ids
}

/** Registers the agent; its token, good once. */
export const seedAgent = (admin: ApiClient, name = 'demo-host'): Promise<AgentCreated> =>
  admin.request<AgentCreated>('POST', '/admin/agents', { Name: name })

/** Waits until the agent is linked and has said what its host can do. */
export async function waitForAgent(admin: ApiClient, id: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const agent = await admin.request<AgentRow>('GET', `/admin/agents/${id}`)
    if (agent.Online && agent.Capabilities !== null) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The agent did not connect within 30 seconds.')
}

/** Makes the knoc that the journey is about: click-to-grant, for everybody the demo made. */
export const seedKnoc = (
  admin: ApiClient,
  {
    arena,
    agentId,
    userIds,
  }: { arena: Pick<Arena, 'doorUrl' | 'knoc'>; agentId: string; userIds: readonly string[] },
): Promise<KnocCreated> =>
  admin.request<KnocCreated>('POST', '/admin/knocs', {
    Backend: { AgentID: agentId, Config: arena.knoc.backend },
    ACL: {
      Description: 'Example service',
      URL: arena.doorUrl,
      Category: 'Servers',
      Icon: 'server',
      ClickToGrant: true,
      MaximumGrantDuration: 8 * 3600,
      Config: arena.knoc.acl,
    },
    UserIDs: userIds,
  })
