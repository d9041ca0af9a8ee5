import { describe, expect, test } from 'vitest'
import { createActor } from 'xstate'
import { canDefer, nextSignInStep, type SignInEvent, signInMachine } from './sign-in.machine.ts'
import { differences, unreachable } from './testing/transition-table.ts'

const accepted = {
  type: 'credentials.accepted',
  totpEnabled: true,
  totpConfirmed: true,
  hasPasskey: false,
  deferable: false,
} as const
const events = {
  noFactor: { ...accepted, totpEnabled: false },
  confirmed: accepted,
  unconfirmed: { ...accepted, totpConfirmed: false, deferable: true },
  refused: { type: 'credentials.refused', error: 'err.invalidCredentials' },
  belongToAdmin: { type: 'credentials.belongToAdmin' },
  totpAccepted: { type: 'totp.accepted' },
  totpRejected: { type: 'totp.rejected', error: 'err.invalidCode' },
  enrolled: { type: 'enrolment.verified' },
  deferred: { type: 'enrolment.deferred' },
  halfExpired: { type: 'halfSession.expired' },
  sessionEnded: { type: 'session.ended' },
  signOut: { type: 'signOut' },
} satisfies Record<string, SignInEvent>

const asking = {
  noFactor: 'signedIn',
  confirmed: 'verifyingTotp',
  unconfirmed: 'enrolling',
  refused: 'refused',
}
const half = { halfExpired: 'refused', signOut: 'credentials' }

describe('signing in', () => {
  test('a user goes from step to step as the table says', () => {
    const context = { realm: 'user', deferable: true, error: null }
    const table = {
      credentials: { ...asking, belongToAdmin: 'adminFlow' },
      refused: { ...asking, belongToAdmin: 'adminFlow' },
      verifyingTotp: { ...half, totpAccepted: 'signedIn' },
      enrolling: { ...half, enrolled: 'signedIn' },
      adminFlow: { signOut: 'credentials' },
      signedIn: { sessionEnded: 'refused', signOut: 'credentials' },
    }
    expect(differences({ machine: signInMachine, context, events, table })).toEqual([])
  })

  test('an admin may put enrolment off while deferrals are left, and has no admin flow to be sent to', () => {
    const context = { realm: 'admin', deferable: true, error: null }
    const table = {
      credentials: asking,
      refused: asking,
      verifyingTotp: { ...half, totpAccepted: 'signedIn' },
      enrolling: { ...half, enrolled: 'signedIn', deferred: 'signedIn' },
      adminFlow: { signOut: 'credentials' },
      signedIn: { sessionEnded: 'refused', signOut: 'credentials' },
    }
    expect(differences({ machine: signInMachine, context, events, table })).toEqual([])
  })

  test('every step can be reached', () => {
    const input = { realm: 'user' } as const
    expect(unreachable({ machine: signInMachine, input, events: Object.values(events) })).toEqual([])
  })

  test('what went wrong is kept until the next try', () => {
    const actor = createActor(signInMachine, { input: { realm: 'user' } }).start()
    actor.send(events.refused)
    expect(actor.getSnapshot().context.error).toBe('err.invalidCredentials')
    actor.send(events.confirmed)
    expect(actor.getSnapshot().context.error).toBeNull()
    actor.send(events.totpRejected)
    expect(actor.getSnapshot().context.error).toBe('err.invalidCode')
    actor.send(events.halfExpired)
    expect(actor.getSnapshot().context.error).toBe('err.sessionExpired')
  })

  test.each([
    { totpEnabled: false, totpConfirmed: false, hasPasskey: false, step: 'signedIn' },
    { totpEnabled: false, totpConfirmed: true, hasPasskey: true, step: 'signedIn' },
    { totpEnabled: true, totpConfirmed: true, hasPasskey: false, step: 'verifyingTotp' },
    { totpEnabled: true, totpConfirmed: false, hasPasskey: true, step: 'verifyingTotp' },
    { totpEnabled: true, totpConfirmed: false, hasPasskey: false, step: 'enrolling' },
  ])(
    'the server asks for $step: required $totpEnabled, confirmed $totpConfirmed, passkey $hasPasskey',
    ({ step, ...account }) => {
      expect(nextSignInStep({ realm: 'user', deferable: false, ...account })).toBe(step)
    },
  )

  test('only an admin with deferrals left who has to enrol may put it off', () => {
    const open = { totpEnabled: true, totpConfirmed: false, hasPasskey: false, deferable: true }
    expect(canDefer({ realm: 'admin', ...open })).toBe(true)
    expect(canDefer({ realm: 'user', ...open })).toBe(false)
    expect(canDefer({ realm: 'admin', ...open, deferable: false })).toBe(false)
    expect(canDefer({ realm: 'admin', ...open, totpConfirmed: true })).toBe(false)
    expect(canDefer({ realm: 'admin', ...open, hasPasskey: true })).toBe(false)
  })
})
