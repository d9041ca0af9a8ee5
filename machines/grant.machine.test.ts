import { describe, expect, test } from 'vitest'
import {
  type GrantEvent,
  grantCan,
  grantEffects,
  grantMachine,
  stepGrant,
  toGrantState,
  toStatusNumber,
} from './grant.machine.ts'
import { canGrant, canRevoke, statusNumbers } from './grant-status.ts'
import { differences, unreachable } from './testing/transition-table.ts'

const events = {
  grant: { type: 'grant' },
  revoke: { type: 'revoke' },
  rightEnded: { type: 'right.ended' },
  agentLost: { type: 'agent.lost' },
  agentReturned: { type: 'agent.returned' },
  opened: { type: 'entries.opened' },
  openFailed: { type: 'open.failed' },
  openRetried: { type: 'open.retried' },
  errorShown: { type: 'error.shown' },
  closed: { type: 'entries.closed' },
  closeFailed: { type: 'close.failed' },
  listRead: { type: 'list.read' },
} satisfies Record<string, GrantEvent>

const ends = { revoke: 'revoking', rightEnded: 'revoking' }

const tableWhere = (grant: string, passive: boolean) => ({
  created: { grant },
  pending: { ...ends, agentLost: 'agentOffline', opened: 'granted', openFailed: 'failed' },
  agentOffline: { ...ends, agentReturned: 'pending', opened: 'granted' },
  granted: { ...ends, openFailed: 'failed' },
  failed: { ...ends, grant, openRetried: 'pending', opened: 'granted', errorShown: 'created' },
  published: { listRead: 'read', revoke: 'revoked', rightEnded: 'revoked' },
  read: ends,
  revoking: { closed: 'revoked', closeFailed: 'revokeFailed', ...(passive && { grant: 'published' }) },
  revoked: { grant },
  revokeFailed: { grant, closed: 'revoked' },
  needsAttention: {},
})

describe('the life of a grant', () => {
  test.each([
    { when: 'the agent is there', context: { passive: false, agentOnline: true }, grant: 'pending' },
    { when: 'the agent is away', context: { passive: false, agentOnline: false }, grant: 'agentOffline' },
    { when: 'a device reads a list', context: { passive: true, agentOnline: false }, grant: 'published' },
  ])('follows the table when $when', ({ context, grant }) => {
    const table = tableWhere(grant, context.passive)
    expect(differences({ machine: grantMachine, context, events, table })).toEqual([])
  })

  test('reaches every state, but for the one that only an unknown number leads to', () => {
    const all = Object.values(events)
    const active = unreachable({
      machine: grantMachine,
      input: { passive: false, agentOnline: true },
      events: all,
    })
    const passive = unreachable({
      machine: grantMachine,
      input: { passive: true, agentOnline: true },
      events: all,
    })
    expect(active).toEqual(['published', 'read', 'needsAttention'])
    expect(active.filter((state) => passive.includes(state))).toEqual(['needsAttention'])
  })

  test('each status number is one state, and an unknown number is for an admin to look at', () => {
    for (const status of statusNumbers) expect(toStatusNumber(toGrantState(status))).toBe(status)
    for (const unknown of [7, 11, -1, 0.5, Number.NaN]) expect(toGrantState(unknown)).toBe('needsAttention')
    expect(toStatusNumber('needsAttention')).toBeNull()
    const row = { status: 7, passive: false, agentOnline: true }
    for (const event of Object.values(events)) {
      expect(stepGrant(row, event)).toEqual({ status: null, effects: [] })
      expect(grantCan(row, { type: 'grant' })).toBe(false)
    }
  })

  test('the table of statuses and the machine agree on what can be granted and revoked', () => {
    for (const passive of [false, true])
      for (const agentOnline of [false, true])
        for (const status of statusNumbers) {
          const row = { status, passive, agentOnline }
          expect([status, grantCan(row, { type: 'grant' })]).toEqual([status, canGrant(status, { passive })])
          expect([status, grantCan(row, { type: 'revoke' })]).toEqual([status, canRevoke(status)])
        }
  })

  test('opening and closing are its only effects, and each happens where the table changes what is wanted', () => {
    const row = { passive: false, agentOnline: true }
    expect(stepGrant({ ...row, status: 4 }, events.grant)).toEqual({ status: 2, effects: ['openEntries'] })
    expect(stepGrant({ ...row, status: 0 }, events.revoke)).toEqual({ status: 8, effects: ['closeEntries'] })
    expect(stepGrant({ ...row, status: 1 }, events.errorShown)).toEqual({
      status: 4,
      effects: ['closeEntries'],
    })
    expect(stepGrant({ ...row, status: 3 }, events.grant)).toEqual({ status: 2 + 1, effects: [] })
    expect(stepGrant({ ...row, status: 8 }, events.revoke)).toEqual({ status: 8, effects: [] })
    for (const status of statusNumbers)
      for (const event of Object.values(events))
        for (const effect of stepGrant({ ...row, status }, event).effects)
          expect(grantEffects).toContain(effect)
  })
})
