import { assign, setup } from 'xstate'
import { isStatusNumber, pollStops } from './grant-status.ts'
import { unprovided } from './unprovided.ts'

/**
 * After a grant or a revoke: the status is read at once, then after 1, 1, 2, 3, 5 … seconds until it settles.
 *
 * It ends as well when a wait would pass 30 s; the regular poll takes over. A read that fails doesn't end it.
 * The browser provides `fetchStatus` (forced) and runs it as an actor. Portal §4; specification README "Buttons".
 */

/** A wait longer than this isn't begun. */
export const longestPollWaitMs = 30_000

const firstWaitMs = 1_000

type Context = {
  aclId: string
  status: number | null
  /** The wait before the next read. */
  waitMs: number
  lastWaitMs: number
}

/** The poll; see the file's head. Its output is the last status read. */
export const grantPollMachine = setup({
  types: {
    context: {} as Context,
    input: {} as { aclId: string },
    output: {} as { status: number | null },
  },
  actors: {
    /** The entry's status number now, read past every cache. */
    fetchStatus: unprovided<number, { aclId: string }>('grantPoll', 'fetchStatus'),
  },
  guards: {
    hasSettled: ({ context }) =>
      context.status !== null && isStatusNumber(context.status) && pollStops(context.status),
    hasWaitedEnough: ({ context }) => context.waitMs > longestPollWaitMs,
  },
  actions: {
    lengthenWait: assign({
      waitMs: ({ context }) => context.waitMs + context.lastWaitMs,
      lastWaitMs: ({ context }) => context.waitMs,
    }),
  },
  delays: { wait: ({ context }) => context.waitMs },
}).createMachine({
  id: 'grantPoll',
  context: ({ input }) => ({ aclId: input.aclId, status: null, waitMs: firstWaitMs, lastWaitMs: 0 }),
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'fetchStatus',
        input: ({ context }) => ({ aclId: context.aclId }),
        onDone: { target: 'deciding', actions: assign({ status: ({ event }) => event.output }) },
        onError: { target: 'deciding' },
      },
    },
    deciding: {
      always: [
        { guard: 'hasSettled', target: 'settled' },
        { guard: 'hasWaitedEnough', target: 'handedOver' },
        { target: 'waiting' },
      ],
    },
    waiting: { after: { wait: { target: 'asking', actions: 'lengthenWait' } } },
    settled: { type: 'final' },
    handedOver: { type: 'final' },
  },
  output: ({ context }) => ({ status: context.status }),
})
