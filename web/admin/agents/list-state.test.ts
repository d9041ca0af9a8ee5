import { expect, it } from 'vitest'
import type { AgentList, AgentLook, ListRefresh } from '#server/agents/agent-list.schema.ts'
import { listState } from './list-state.ts'

const list = (look: Partial<AgentLook> | null, facts: Partial<AgentList> = {}): AgentList => ({
  ID: 'a',
  Type: 'ipset',
  Name: 'ssh',
  Family: 4,
  Draining: false,
  EndsByItself: true,
  Knocs: [],
  Open: 2,
  Look: look && {
    CheckedAt: '2026-11-22T00:00:00Z',
    Desired: 2,
    Actual: 2,
    Foreign: 0,
    Error: null,
    ...look,
  },
  Refresh: null,
  Debts: 0,
  Cut: null,
  ...facts,
})

const fetched = (refresh: Partial<ListRefresh> = {}): AgentList =>
  list(null, { Refresh: { RefreshedAt: '2026-11-22T00:00:00Z', Error: null, ...refresh } })

it.each([
  ['nobody looked yet', list(null), true, 'unseen', 'neutral'],
  ['all is as ordered', list({}), true, 'asOrdered', 'ok'],
  ['others have entries there', list({ Actual: 5, Foreign: 3 }), true, 'foreign', 'warn'],
  [
    'something is missing though others fill the count',
    list({ Actual: 2, Foreign: 1 }),
    true,
    'differs',
    'warn',
  ],
  ['it could not be read', list({ Error: 'no such set' }), true, 'broken', 'danger'],
  ['it could not be read, and the agent is away', list({ Error: 'no such set' }), false, 'broken', 'danger'],
  ['the agent is away, the kernel is not', list({}), false, 'stale', 'neutral'],
  [
    'the agent is away, and nothing ends by itself',
    list({}, { EndsByItself: false }),
    false,
    'stale',
    'warn',
  ],
  ['its device was told to fetch it', fetched(), true, 'told', 'ok'],
  ['its device was never told', fetched({ RefreshedAt: null }), true, 'notTold', 'neutral'],
  ['its device can’t be told', fetched({ Error: 'Invalid credentials.' }), true, 'tellingFails', 'danger'],
  ['it can’t be told, and the agent is away', fetched({ Error: 'x' }), false, 'tellingFails', 'danger'],
  ['nobody is there to tell its device', fetched(), false, 'stale', 'warn'],
] as const)('says so when %s', (_, of, online, text, tone) => {
  expect(listState(of, online)).toEqual({ text, tone })
})
