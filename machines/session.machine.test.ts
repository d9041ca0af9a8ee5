import { describe, expect, test } from 'vitest'
import { createActor } from 'xstate'
import { expiresSoonMs } from './grant-status.ts'
import { type SessionEvent, sessionMachine, toSessionState } from './session.machine.ts'
import { differences, unreachable } from './testing/transition-table.ts'

const hour = 3_600_000
const endsAt = 10 * hour
const events = {
  early: { type: 'tick', now: hour },
  near: { type: 'tick', now: endsAt - expiresSoonMs + 1 },
  atEnd: { type: 'tick', now: endsAt },
  extended: { type: 'extend', endsAt: endsAt + hour, now: hour },
  shortened: { type: 'extend', endsAt: endsAt - hour, now: hour },
  ended: { type: 'end' },
} satisfies Record<string, SessionEvent>

describe('a session', () => {
  test('goes from active through its last 15 minutes to its end', () => {
    const context = { endsAt, now: 0, kiosk: false }
    const table = {
      active: { near: 'expiringSoon', atEnd: 'ended', ended: 'ended' },
      // Resolved at 0 of 10 hours, so any look at the clock shows that it isn't near its end.
      expiringSoon: {
        early: 'active',
        extended: 'active',
        shortened: 'active',
        atEnd: 'ended',
        ended: 'ended',
      },
      ended: {},
    }
    expect(differences({ machine: sessionMachine, context, events, table })).toEqual([])
  })

  test('reaches every state', () => {
    const input = { endsAt, now: 0, kiosk: false }
    expect(unreachable({ machine: sessionMachine, input, events: Object.values(events) })).toEqual([])
  })

  test('is over at once when it had ended before it was looked at', () => {
    const actor = createActor(sessionMachine, { input: { endsAt, now: endsAt, kiosk: false } }).start()
    expect(actor.getSnapshot().value).toBe('ended')
  })

  test('comes back from its last minutes when extended, but never in a kiosk', () => {
    for (const kiosk of [false, true]) {
      const actor = createActor(sessionMachine, { input: { endsAt, now: endsAt - 60_000, kiosk } }).start()
      expect(actor.getSnapshot().value).toBe('expiringSoon')
      actor.send({ type: 'extend', endsAt: endsAt + hour, now: endsAt - 30_000 })
      expect(actor.getSnapshot().value).toBe(kiosk ? 'expiringSoon' : 'active')
    }
  })

  test('is not extended at or after its end', () => {
    const actor = createActor(sessionMachine, { input: { endsAt, now: 0, kiosk: false } }).start()
    actor.send({ type: 'extend', endsAt: endsAt + hour, now: endsAt })
    expect(actor.getSnapshot().context.endsAt).toBe(endsAt)
  })

  test('does not run backwards', () => {
    const actor = createActor(sessionMachine, { input: { endsAt, now: 0, kiosk: false } }).start()
    actor.send(events.near)
    actor.send(events.early)
    expect(actor.getSnapshot().value).toBe('expiringSoon')
  })

  test.each([
    { row: { endedAt: null, endsAt, now: 0 }, state: 'active' },
    { row: { endedAt: null, endsAt, now: endsAt - expiresSoonMs }, state: 'active' },
    { row: { endedAt: null, endsAt, now: endsAt - expiresSoonMs + 1 }, state: 'expiringSoon' },
    { row: { endedAt: null, endsAt, now: endsAt }, state: 'ended' },
    { row: { endedAt: 5, endsAt, now: 6 }, state: 'ended' },
  ])('its row reads as $state at $row.now', ({ row, state }) => {
    expect(toSessionState(row)).toBe(state)
  })
})
