/** Whether an enrolment token can be used: good once, for 7 days. Spec README "Agent token". */
export type TokenState = 'good' | 'used' | 'expired'

/** State of an agent's token as its detail tells it; `now` in milliseconds. */
export function tokenState(agent: { Token: string; TokenExpires: string | null }, now: number): TokenState {
  if (agent.TokenExpires !== null && Date.parse(agent.TokenExpires) <= now) return 'expired'
  return agent.Token === '' ? 'used' : 'good'
}
