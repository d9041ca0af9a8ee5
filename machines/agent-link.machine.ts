import { and, assign, setup } from 'xstate'
import { closeCodes, linkLimits } from './protocol.ts'
import { unprovided, unprovidedAction } from './unprovided.ts'

/**
 * The agent's link to the server: enrol once, connect, stay linked, move without a gap, back off.
 *
 * The agent runs it as an actor and provides `enrol`, `openLink`, `dropLink`, `closeEverything` and `backOff`.
 * Every link has a number, so what a dropped link still says is not heard. An agent that is refused keeps
 * closing by its journal; only one that the server doesn't know closes everything.
 * Design §2, decisions 19, 27 and 29.
 */
export type AgentLinkEvent =
  /** The server's welcome: the hello was taken. */
  | { type: 'welcome'; linkId: number }
  | { type: 'frame.received'; linkId: number }
  | { type: 'move'; linkId: number; afterMs: number }
  /** The link ended or was never made. A refused upgrade has the close code that means the same. */
  | { type: 'link.closed'; linkId: number; code: number }
  | { type: 'stop' }

/** How an enrolment ended: `refused` for a token or key that will not be taken, however often it is tried. */
export type EnrolmentOutcome = 'enrolled' | 'refused'

type Context = {
  enrolled: boolean
  /** The link in use or being made. */
  linkId: number
  /** The link that is to follow it, while moving. */
  nextLinkId: number | null
  /** Failed tries since the last frame. */
  attempt: number
  moveAfterMs: number
}

const machineName = 'agentLink'

/** Wait before the next try, with full jitter, 15 s at most. `random` is 0 … 1. */
export const backOffMs = (attempt: number, random: number): number =>
  Math.round(random * Math.min(linkLimits.reconnectMaxMs, 250 * 2 ** Math.min(attempt, 16)))

/** Tries after which the jitter spans its whole range. */
const slowAttempt = 6

type LinkAction = (scope: unknown, params: { linkId: number }) => void

const linkAction = (action: string): LinkAction => unprovidedAction(machineName, action)

const linkSetup = setup({
  types: {
    context: {} as Context,
    events: {} as AgentLinkEvent,
    input: {} as { enrolled: boolean },
  },
  actors: {
    /** POST /api/agent/enrol with the token and the agent's new keys; a network fault rejects. */
    enrol: unprovided<EnrolmentOutcome>(machineName, 'enrol'),
  },
  guards: {
    isEnrolled: ({ context }) => context.enrolled,
    isCurrent: ({ context, event }) => 'linkId' in event && event.linkId === context.linkId,
    isNext: ({ context, event }) => 'linkId' in event && event.linkId === context.nextLinkId,
    hasCode: ({ event }, { code }: { code: number }) => event.type === 'link.closed' && event.code === code,
  },
  actions: {
    /** Opens a link under this number and sends its events; it says hello by itself. */
    openLink: linkAction('openLink'),
    /** Closes that link, if it is still open. */
    dropLink: linkAction('dropLink'),
    /** Closes every entry of the journal. */
    closeEverything: unprovidedAction(machineName, 'closeEverything'),
    countLink: assign({ linkId: ({ context }) => context.linkId + 1, nextLinkId: null }),
    countNextLink: assign({ nextLinkId: ({ context }) => context.linkId + 1 }),
    adoptNextLink: assign({
      linkId: ({ context }) => context.nextLinkId ?? context.linkId,
      nextLinkId: null,
    }),
    forgetNextLink: assign({ nextLinkId: null }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    slowDown: assign({ attempt: slowAttempt }),
    resetAttempts: assign({ attempt: 0 }),
    noteEnrolled: assign({ enrolled: true }),
    noteMove: assign({
      moveAfterMs: ({ context, event }) => (event.type === 'move' ? event.afterMs : context.moveAfterMs),
    }),
  },
  delays: {
    /** `backOffMs` with the attempt of the context and the agent's random numbers. */
    backOff: unprovidedAction(machineName, 'backOff'),
    longBackOff: 300_000,
    greeting: 10_000,
    silence: linkLimits.deadAfterMs,
    moveWait: ({ context }) => context.moveAfterMs,
  },
})

const openCurrent = {
  type: 'openLink',
  params: ({ context }: { context: Context }) => ({ linkId: context.linkId }),
} as const
const dropCurrent = {
  type: 'dropLink',
  params: ({ context }: { context: Context }) => ({ linkId: context.linkId }),
} as const
const nextNumber = ({ context }: { context: Context }) => ({ linkId: context.nextLinkId ?? context.linkId })
const openNext = { type: 'openLink', params: nextNumber } as const
const dropNext = { type: 'dropLink', params: nextNumber } as const

const currentEndedBy = (code: number) => and(['isCurrent', { type: 'hasCode', params: { code } }])
const connect = { target: '#agentLink.connecting', actions: ['countLink', openCurrent] } as const
/** By the code the server gave; anything else is a fault that passes. */
const currentEnded = [
  { guard: currentEndedBy(closeCodes.unknownAgent), target: '#agentLink.refused.unknown' },
  { guard: currentEndedBy(closeCodes.conflict), target: '#agentLink.refused.conflict' },
  { guard: currentEndedBy(closeCodes.unsupportedProtocol), target: '#agentLink.refused.unsupported' },
  /** Somebody else has this identity: don't fight for the link. */
  { guard: currentEndedBy(closeCodes.superseded), target: '#agentLink.backingOff', actions: 'slowDown' },
  { guard: 'isCurrent', target: '#agentLink.backingOff', actions: 'countAttempt' },
] as const

/** The agent's link; see the file's head. */
export const agentLinkMachine = linkSetup.createMachine({
  id: machineName,
  context: ({ input }) => ({
    enrolled: input.enrolled,
    linkId: 0,
    nextLinkId: null,
    attempt: 0,
    moveAfterMs: 0,
  }),
  initial: 'starting',
  on: { stop: { target: '.stopped' } },
  states: {
    starting: { always: [{ guard: 'isEnrolled', ...connect }, { target: 'enrolling' }] },
    enrolling: {
      invoke: {
        src: 'enrol',
        onDone: [
          {
            guard: ({ event }) => event.output === 'enrolled',
            target: 'connecting',
            actions: ['noteEnrolled', 'resetAttempts', 'countLink', openCurrent],
          },
          { target: 'refused.enrolment' },
        ],
        onError: { target: 'backingOff', actions: 'countAttempt' },
      },
    },
    connecting: {
      on: { welcome: { guard: 'isCurrent', target: 'linked' }, 'link.closed': currentEnded },
      after: { greeting: { target: 'backingOff', actions: [dropCurrent, 'countAttempt'] } },
    },
    linked: {
      on: {
        'frame.received': { guard: 'isCurrent', target: 'linked', reenter: true, actions: 'resetAttempts' },
        move: { guard: 'isCurrent', target: 'moving', actions: 'noteMove' },
        'link.closed': currentEnded,
      },
      after: { silence: { target: 'backingOff', actions: [dropCurrent, 'countAttempt'] } },
    },
    /** The link still stands; its successor is made first. */
    moving: {
      initial: 'waiting',
      states: {
        waiting: {
          on: { 'link.closed': currentEnded },
          after: { moveWait: { target: 'opening', actions: ['countNextLink', openNext] } },
        },
        opening: {
          on: {
            welcome: {
              guard: 'isNext',
              target: '#agentLink.linked',
              actions: [dropCurrent, 'adoptNextLink'],
            },
            'link.closed': [
              {
                guard: 'isNext',
                target: '#agentLink.linked',
                actions: 'forgetNextLink',
              },
              { guard: 'isCurrent', target: '#agentLink.connecting', actions: 'adoptNextLink' },
            ],
          },
          after: { greeting: { target: '#agentLink.linked', actions: [dropNext, 'forgetNextLink'] } },
        },
      },
    },
    backingOff: {
      after: { backOff: [{ guard: 'isEnrolled', ...connect }, { target: 'enrolling' }] },
    },
    refused: {
      initial: 'unknown',
      states: {
        /** Token or key not taken: it stays so until somebody brings another one. */
        enrolment: { after: { longBackOff: { target: '#agentLink.enrolling' } } },
        unknown: { entry: 'closeEverything', after: { longBackOff: connect } },
        conflict: { after: { longBackOff: connect } },
        unsupported: { after: { longBackOff: connect } },
      },
    },
    stopped: { entry: [dropCurrent, dropNext], type: 'final' },
  },
})
