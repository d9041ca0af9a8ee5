import { assign, setup, transition } from 'xstate'
import { isStatusNumber, type StatusNumber, statusNumbers } from './grant-status.ts'

/**
 * The life of a grant of one ACL in one session, as its user sees it; each state is one status number.
 *
 * The server runs it as a function: status number in, next number and effects out. What must stand on the
 * enforcement point is not decided here but by `access.ts`, from all live grants.
 * Specification README "Statuses", "Statuses, the rest", "Passive lists closing"; decision 36.
 */
export type GrantEvent =
  | { type: 'grant' }
  | { type: 'revoke' }
  /** The end came, or the right was taken away: restriction, membership, session, user, knoc. */
  | { type: 'right.ended' }
  | { type: 'agent.lost' }
  | { type: 'agent.returned' }
  /** All its entries were seen standing. */
  | { type: 'entries.opened' }
  | { type: 'open.failed' }
  /** An automatic grant is tried again. */
  | { type: 'open.retried' }
  /** A click's error was shown for 30 s. */
  | { type: 'error.shown' }
  | { type: 'entries.closed' }
  | { type: 'close.failed' }
  /** A list with its addresses was served (200 or 304). */
  | { type: 'list.read' }

/** What the server does when a transition names it; nothing else may come out of the machine. */
export const grantEffects = ['openEntries', 'closeEntries'] as const
export type GrantEffect = (typeof grantEffects)[number]

type Context = { passive: boolean; agentOnline: boolean }

const ending = { target: 'revoking', actions: 'closeEntries' } as const
const opening = [
  { guard: 'isPassive', target: 'published', actions: 'openEntries' },
  { guard: 'isAgentOffline', target: 'agentOffline', actions: 'openEntries' },
  { target: 'pending', actions: 'openEntries' },
] as const

/** A grant; see the file's head. */
export const grantMachine = setup({
  types: {
    context: {} as Context,
    events: {} as GrantEvent,
    input: {} as Context,
  },
  guards: {
    isPassive: ({ context }) => context.passive,
    isAgentOffline: ({ context }) => !context.agentOnline,
  },
  actions: {
    openEntries: () => {},
    closeEntries: () => {},
    setOnline: assign({ agentOnline: true }),
    setOffline: assign({ agentOnline: false }),
  },
}).createMachine({
  id: 'grant',
  context: ({ input }) => ({ ...input }),
  initial: 'created',
  on: {
    'agent.lost': { actions: 'setOffline' },
    'agent.returned': { actions: 'setOnline' },
  },
  states: {
    created: { on: { grant: opening } },
    pending: {
      on: {
        'agent.lost': { target: 'agentOffline', actions: 'setOffline' },
        'entries.opened': { target: 'granted' },
        'open.failed': { target: 'failed' },
        'right.ended': ending,
        revoke: ending,
      },
    },
    agentOffline: {
      on: {
        /** It waits already. */
        grant: { target: 'agentOffline' },
        'agent.returned': { target: 'pending', actions: 'setOnline' },
        'entries.opened': { target: 'granted' },
        'right.ended': ending,
        revoke: ending,
      },
    },
    granted: { on: { 'open.failed': { target: 'failed' }, 'right.ended': ending, revoke: ending } },
    failed: {
      on: {
        grant: opening,
        'open.retried': { target: 'pending', actions: 'openEntries' },
        'entries.opened': { target: 'granted' },
        'error.shown': { target: 'created', actions: 'closeEntries' },
        'right.ended': ending,
        revoke: ending,
      },
    },
    published: {
      on: {
        'list.read': { target: 'read' },
        /** Nobody has read it: there is nothing to take back. */
        'right.ended': { target: 'revoked', actions: 'closeEntries' },
        revoke: { target: 'revoked', actions: 'closeEntries' },
      },
    },
    read: { on: { 'right.ended': ending, revoke: ending } },
    revoking: {
      on: {
        grant: { guard: 'isPassive', target: 'published', actions: 'openEntries' },
        revoke: { target: 'revoking' },
        'entries.closed': { target: 'revoked' },
        'close.failed': { target: 'revokeFailed' },
      },
    },
    revoked: { on: { grant: opening } },
    /** The close is retried for ever. */
    revokeFailed: {
      on: {
        grant: opening,
        revoke: { target: 'revokeFailed' },
        'entries.closed': { target: 'revoked' },
      },
    },
    /** A number this build doesn't know: nothing is done to it, an admin looks. */
    needsAttention: {},
  },
})

const stateOfStatus = {
  0: 'granted',
  1: 'failed',
  2: 'pending',
  3: 'agentOffline',
  4: 'created',
  5: 'read',
  6: 'published',
  8: 'revoking',
  9: 'revoked',
  10: 'revokeFailed',
} as const satisfies Record<StatusNumber, string>

/** A state of the machine. */
export type GrantState = (typeof stateOfStatus)[StatusNumber] | 'needsAttention'

/** The state of a status number; total, an unknown number becomes `needsAttention`. */
export const toGrantState = (status: number): GrantState =>
  isStatusNumber(status) ? stateOfStatus[status] : 'needsAttention'

/** The status number of a state; null for `needsAttention`. */
export const toStatusNumber = (state: GrantState): StatusNumber | null =>
  statusNumbers.find((status) => stateOfStatus[status] === state) ?? null

type GrantRow = Context & { status: number }

/** Whether the event means anything to a grant with this status. */
export const grantCan = (row: GrantRow, event: GrantEvent): boolean => snapshotOf(row).can(event)

/** What follows an event: the next status number (null: an admin must look) and the effects to carry out. */
export function stepGrant(
  row: GrantRow,
  event: GrantEvent,
): { status: StatusNumber | null; effects: GrantEffect[] } {
  const [next, actions] = transition(grantMachine, snapshotOf(row), event)
  return { status: toStatusNumber(next.value), effects: actions.map((action) => toEffect(action.type)) }
}

const snapshotOf = ({ status, passive, agentOnline }: GrantRow) =>
  grantMachine.resolveState({ value: toGrantState(status), context: { passive, agentOnline } })

function toEffect(type: string): GrantEffect {
  const effect = grantEffects.find((known) => known === type)
  if (effect === undefined) throw new Error(`grant: the machine asks for "${type}", which is not an effect`)
  return effect
}
