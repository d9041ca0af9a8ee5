/** The agents, the first on the servers' own host. */
export const agentNames = ['edge-1', 'edge-2'] as const
