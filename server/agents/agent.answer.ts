import type { AgentView } from './agent.query.ts'
import type { AgentDetail, AgentRow } from './agent.schema.ts'
import { installCommand } from './install-command.ts'

/** One agent as the console's list shows it; the token is never in it. */
export const toRow = (agent: AgentView): AgentRow => ({
  ID: agent.id,
  Name: agent.name,
  Token: '',
  LastSeen: agent.lastSeenAt?.toISOString() ?? null,
  Online: agent.online,
  Version: agent.version,
  ExternalIP: agent.externalIp,
  Capabilities: agent.capabilities,
  Backends: agent.backends,
  EnrolledAt: agent.enrolledAt?.toISOString() ?? null,
  Conflict: agent.conflict,
  Debts: agent.debts,
  LastModifiedAt: agent.lastModifiedAt.toISOString(),
})

/** One agent with its token and how to use it, until it was used. */
export const toDetail = (
  agent: AgentView,
  { server, token }: { server: string; token: string },
): AgentDetail => ({
  ...toRow(agent),
  Token: token,
  TokenExpires: agent.enrolledAt === null ? (agent.tokenExpiresAt?.toISOString() ?? null) : null,
  InstallCommand: token === '' ? '' : installCommand({ server, token }),
})
