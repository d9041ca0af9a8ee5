import { assign, setup } from 'xstate'

/**
 * Creating a knoc: named steps in order; after a failure the steps already made are undone in reverse.
 *
 * The server drives it inside one database transaction, where undoing is ROLLBACK; the web shows its progress.
 * Design §5, decision 17; console §4; specification README "Key before ACL" and "Passive+".
 */

/** Every step there can be, in order. */
export const allCreationSteps = ['backend', 'apiKey', 'acl', 'childBackend', 'childAcl', 'members'] as const
export type CreationStep = (typeof allCreationSteps)[number]

/** What of a knoc is to be made: a key's step for `new` and `existing`, a child for Passive+. */
export type CreationPlan = { apiKey: 'new' | 'existing' | 'none'; child: boolean }

/** The steps of this plan, in order. */
export const creationSteps = (plan: CreationPlan): CreationStep[] =>
  allCreationSteps.filter((step) => {
    if (step === 'apiKey') return plan.apiKey !== 'none'
    return plan.child || (step !== 'childBackend' && step !== 'childAcl')
  })

export type CreationEvent =
  | { type: 'step.done'; step: CreationStep }
  | { type: 'step.failed'; step: CreationStep; error: string }
  /** One step undone. */
  | { type: 'step.undone'; step: CreationStep }
  /** ROLLBACK: everything undone at once. */
  | { type: 'rolledBack' }

type Context = { steps: CreationStep[]; done: CreationStep[]; error: string | null }

/** Creating a knoc; see the file's head. */
export const knocCreateMachine = setup({
  types: {
    context: {} as Context,
    events: {} as CreationEvent,
    input: {} as CreationPlan,
  },
  guards: {
    isDue: ({ context, event }) => 'step' in event && event.step === currentStep(context),
    isLastDone: ({ context, event }) => 'step' in event && event.step === context.done.at(-1),
    isComplete: ({ context }) => context.done.length === context.steps.length,
    isUndone: ({ context }) => context.done.length === 0,
  },
  actions: {
    addDone: assign({
      done: ({ context, event }) =>
        event.type === 'step.done' ? [...context.done, event.step] : context.done,
    }),
    removeDone: assign({ done: ({ context }) => context.done.slice(0, -1) }),
    removeAllDone: assign({ done: [] }),
    keepError: assign({
      error: ({ context, event }) => (event.type === 'step.failed' ? event.error : context.error),
    }),
  },
}).createMachine({
  id: 'knocCreate',
  context: ({ input }) => ({ steps: creationSteps(input), done: [], error: null }),
  initial: 'creating',
  states: {
    creating: {
      always: { guard: 'isComplete', target: 'created' },
      on: {
        'step.done': { guard: 'isDue', actions: 'addDone' },
        'step.failed': { guard: 'isDue', target: 'rollingBack', actions: 'keepError' },
      },
    },
    rollingBack: {
      always: { guard: 'isUndone', target: 'failed' },
      on: {
        'step.undone': { guard: 'isLastDone', actions: 'removeDone' },
        rolledBack: { target: 'failed', actions: 'removeAllDone' },
      },
    },
    created: { type: 'final' },
    failed: { type: 'final' },
  },
})

/** A step and how far it is, for the screen. */
export type CreationProgress = { step: CreationStep; state: 'done' | 'current' | 'waiting' }

/** The steps of a creation with what is done, at work, and to come. */
export const progressOf = (context: Context): CreationProgress[] =>
  context.steps.map((step) => {
    if (context.done.includes(step)) return { step, state: 'done' }
    return { step, state: step === currentStep(context) && context.error === null ? 'current' : 'waiting' }
  })

const currentStep = ({ steps, done }: Context): CreationStep | undefined => steps[done.length]
