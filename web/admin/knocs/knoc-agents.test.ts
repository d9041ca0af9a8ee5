import { expect, it } from 'vitest'
import type { KnocRow } from '#server/knocs/knoc.schema.ts'
import { agentsOf, isPassivePlus } from './knoc-agents.ts'

const row = (facts: Partial<KnocRow>) =>
  ({ AgentID: 'none', AgentName: null, AgentOnline: false, Firewalls: [], ...facts }) as unknown as KnocRow
const firewall = (AgentID: string, AgentOnline = true) => ({
  ACLID: `child of ${AgentID}`,
  Type: 'panos',
  Hostname: 'fw.example.com',
  EDLName: 'edl',
  AgentID,
  AgentName: `agent ${AgentID}`,
  AgentOnline,
  Refresh: null,
})

it('names the backend’s agent', () => {
  const knoc = row({ AgentID: 'a', AgentName: 'edge', AgentOnline: true })
  expect(agentsOf(knoc)).toEqual([{ id: 'a', name: 'edge', online: true }])
  expect(isPassivePlus(knoc)).toBe(false)
})

it('names those that tell the firewalls of a list, each once, and nobody for one that is only read', () => {
  const knoc = row({ Firewalls: [firewall('b'), firewall('a', false), firewall('b')] })
  expect(agentsOf(knoc)).toEqual([
    { id: 'b', name: 'agent b', online: true },
    { id: 'a', name: 'agent a', online: false },
  ])
  expect(isPassivePlus(knoc)).toBe(true)
  expect(agentsOf(row({}))).toEqual([])
})
