import type { KnocRow } from '#server/knocs/knoc.schema.ts'

/** An agent that carries a knoc out. */
export type KnocAgent = { id: string; name: string; online: boolean }

/** The agents of a knoc: its backend's, or those that tell its firewalls; each once. None for a list that is only read. */
export function agentsOf({ AgentID, AgentName, AgentOnline, Firewalls }: KnocRow): KnocAgent[] {
  if (AgentName !== null) return [{ id: AgentID, name: AgentName, online: AgentOnline }]
  const agents = Firewalls.map((firewall) => ({
    id: firewall.AgentID,
    name: firewall.AgentName,
    online: firewall.AgentOnline,
  }))
  return [...new Map(agents.map((agent) => [agent.id, agent])).values()]
}

/** Whether a knoc is a list with a firewall that is told to fetch it. Console §3 "Application type and vendor". */
export const isPassivePlus = ({ Firewalls }: Pick<KnocRow, 'Firewalls'>): boolean => Firewalls.length > 0
