import { z } from 'zod'
import type { EnrolmentOutcome } from '#machines/agent-link.machine.ts'
import type { Identity } from './identity.ts'
import type { AgentLog } from './log.ts'
import { postJson } from './server-api.ts'

type Access = { server: URL; ca: string | undefined; identity: Identity; log: AgentLog }

/**
 * Makes this agent known to the server: its token, good once, with its new keys.
 * @throws Error on a network fault or a server in trouble; it is then tried again.
 */
export async function enrol(
  deps: Access & { token: string | undefined; version: string },
): Promise<EnrolmentOutcome> {
  const { identity, token } = deps
  if (token === undefined) {
    deps.log.error('not enrolled and no token given: start it with the token from the console')
    return 'refused'
  }
  const answer = await postJson(
    new URL('/api/agent/enrol', deps.server),
    {
      Token: token,
      PublicKey: identity.publicKey,
      SealingKey: identity.sealingKey,
      MachineID: identity.machineId,
      Version: deps.version,
    },
    { ca: deps.ca, schema: z.object({ AgentID: z.uuid() }) },
  )
  if ('data' in answer) {
    identity.noteEnrolled(answer.data.AgentID)
    deps.log.info({ agent: answer.data.AgentID }, 'enrolled')
    return 'enrolled'
  }
  if (answer.status >= 500 || answer.status === 429) throw new Error(answer.err)
  deps.log.error(
    { err: answer.err },
    'the server does not take this token; get a new one in the console (Agents, View)',
  )
  return 'refused'
}

/** The headers that authenticate an upgrade, by a fresh challenge; or the error code of a refusal. */
export async function authenticate(
  deps: Access,
): Promise<{ headers: Record<string, string> } | { err: string }> {
  const answer = await postJson(
    new URL('/api/agent/challenge', deps.server),
    { AgentID: deps.identity.agentId() },
    { ca: deps.ca, schema: z.object({ Nonce: z.string().max(200), Server: z.string().max(300) }) },
  )
  if ('err' in answer) return { err: answer.err }
  const { Nonce: nonce, Server: serverName } = answer.data
  return { headers: deps.identity.linkHeaders({ nonce, serverName }) }
}
