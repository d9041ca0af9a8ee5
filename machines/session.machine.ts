import { assign, setup } from 'xstate'
import { expiresSoonMs } from './grant-status.ts'

/**
 * A signed-in time span: active, in its last 15 minutes, ended.
 *
 * Time is an event: the server's sweep or the browser's countdown sends `tick` with the server's time.
 * An end is final: nothing brings a session back. Portal §4; specification README "Kiosk".
 */
export type SessionEvent =
  | { type: 'tick'; now: number }
  /** A later end, as the server granted it. A kiosk's session has no such thing. */
  | { type: 'extend'; endsAt: number; now: number }
  /** Signed out, ended by an admin, pushed out by a newer session, account disabled. */
  | { type: 'end' }

type Context = { endsAt: number; now: number; kiosk: boolean }

/** A session; see the file's head. Input in milliseconds by the server's clock. */
export const sessionMachine = setup({
  types: {
    context: {} as Context,
    events: {} as SessionEvent,
    input: {} as Context,
  },
  guards: {
    isOver: ({ context }) => context.now >= context.endsAt,
    isNearEnd: ({ context }) => context.endsAt - context.now < expiresSoonMs,
    isFarFromEnd: ({ context }) => context.endsAt - context.now >= expiresSoonMs,
    canExtend: ({ context, event }) =>
      event.type === 'extend' &&
      !context.kiosk &&
      event.endsAt > context.endsAt &&
      event.now < context.endsAt,
  },
  actions: {
    setNow: assign({
      now: ({ context, event }) => ('now' in event ? Math.max(context.now, event.now) : context.now),
    }),
    setEnd: assign({
      endsAt: ({ context, event }) => (event.type === 'extend' ? event.endsAt : context.endsAt),
    }),
  },
}).createMachine({
  id: 'session',
  context: ({ input }) => ({ ...input }),
  initial: 'active',
  on: {
    tick: { actions: 'setNow' },
    extend: { guard: 'canExtend', actions: ['setNow', 'setEnd'] },
    end: { target: '.ended' },
  },
  states: {
    active: {
      always: [
        { guard: 'isOver', target: 'ended' },
        { guard: 'isNearEnd', target: 'expiringSoon' },
      ],
    },
    expiringSoon: {
      always: [
        { guard: 'isOver', target: 'ended' },
        { guard: 'isFarFromEnd', target: 'active' },
      ],
    },
    ended: { type: 'final' },
  },
})

export { toSessionState } from './session-state.ts'
