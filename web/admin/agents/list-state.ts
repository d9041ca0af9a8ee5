import type { AgentList, ListRefresh } from '#server/agents/agent-list.schema.ts'
import type { Tone } from '../../components/tone.ts'

/** How a list stands against the orders, as the agent saw it last. Texts are `admin.agent.state.<text>`. */
export type ListState = {
  text:
    | 'told'
    | 'notTold'
    | 'tellingFails'
    | 'broken'
    | 'differs'
    | 'foreign'
    | 'asOrdered'
    | 'unseen'
    | 'stale'
  tone: Tone
}

/** Worst first. What an agent saw before it went away proves nothing of now. */
export function listState(list: AgentList, online: boolean): ListState {
  return list.Refresh === null ? keptState(list, online) : fetchedState(list.Refresh, online)
}

function keptState({ Look, EndsByItself }: AgentList, online: boolean): ListState {
  if (Look === null) return { text: 'unseen', tone: 'neutral' }
  if (Look.Error !== null) return { text: 'broken', tone: 'danger' }
  if (!online) return { text: 'stale', tone: EndsByItself ? 'neutral' : 'warn' }
  if (Look.Actual - Look.Foreign !== Look.Desired) return { text: 'differs', tone: 'warn' }
  return Look.Foreign > 0 ? { text: 'foreign', tone: 'warn' } : { text: 'asOrdered', tone: 'ok' }
}

/** Of a list that its device fetches when told to. Without the agent it still does, at its own interval. */
function fetchedState({ RefreshedAt, Error }: ListRefresh, online: boolean): ListState {
  if (Error !== null) return { text: 'tellingFails', tone: 'danger' }
  if (!online) return { text: 'stale', tone: 'warn' }
  return RefreshedAt === null ? { text: 'notTold', tone: 'neutral' } : { text: 'told', tone: 'ok' }
}
