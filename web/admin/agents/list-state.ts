import type { AgentList } from '#server/agents/agent-list.schema.ts'
import type { Tone } from '../../components/tone.ts'

/** How a list stands against the orders, as the agent saw it last. Texts are `admin.agent.state.<text>`. */
export type ListState = {
  text: 'broken' | 'differs' | 'foreign' | 'asOrdered' | 'unseen' | 'stale'
  tone: Tone
}

/** Worst first. What an agent saw before it went away proves nothing of now. */
export function listState({ Look, EndsByItself }: AgentList, online: boolean): ListState {
  if (Look === null) return { text: 'unseen', tone: 'neutral' }
  if (Look.Error !== null) return { text: 'broken', tone: 'danger' }
  if (!online) return { text: 'stale', tone: EndsByItself ? 'neutral' : 'warn' }
  if (Look.Actual - Look.Foreign !== Look.Desired) return { text: 'differs', tone: 'warn' }
  return Look.Foreign > 0 ? { text: 'foreign', tone: 'warn' } : { text: 'asOrdered', tone: 'ok' }
}
