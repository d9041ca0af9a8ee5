import { assign, setup } from 'xstate'

/**
 * The wizards that make a knoc. A wizard is data: its steps in order, and what each needs before Next.
 *
 * The machine and its stepper are derived from the data, so another wizard is another definition. What the user
 * typed stays in the web's forms, which report whether they are valid. Console §2 "Common wizard rules".
 */
export type WizardStep<Id extends string = string> = {
  id: Id
  /** Next waits for a chosen agent, for a valid form, or for nothing. */
  needs: 'agent' | 'valid' | 'nothing'
  /** Present only in these variants (application types); without it always. */
  when?: readonly string[]
}
export type WizardDefinition<Id extends string = string> = {
  kind: string
  /** The capability that an agent must have to be offered; null where no agent is chosen. */
  capability: 'ipset' | 'haproxy' | 'script' | null
  steps: readonly WizardStep<Id>[]
}

/** Linux host or firewall: agent, settings, options, users and groups, review. */
export const linuxWizard = {
  kind: 'linux',
  capability: 'ipset',
  steps: [
    { id: 'agent', needs: 'agent' },
    { id: 'settings', needs: 'valid' },
    { id: 'options', needs: 'valid' },
    { id: 'assignments', needs: 'nothing' },
    { id: 'review', needs: 'nothing' },
  ],
} as const satisfies WizardDefinition

export type WizardEvent =
  | { type: 'agent.chosen'; agentId: string | null }
  /** A step's form was checked. */
  | { type: 'form.checked'; step: string; valid: boolean }
  | { type: 'variant.chosen'; variant: string }
  | { type: 'next' }
  /** On the first step: leave the wizard. */
  | { type: 'back' }
  | { type: 'submit' }
  | { type: 'submit.succeeded' }
  | { type: 'submit.failed'; error: string }
  | { type: 'error.dismissed' }

/** What a wizard's machine knows beside its step. */
export type WizardContext = {
  agentId: string | null
  variant: string | null
  validSteps: string[]
  error: string | null
}

/** The machine of a wizard. States: its steps, `submitting`, `created`, `left`. */
export function wizardMachine({ kind, steps }: WizardDefinition) {
  const wizard = setup({
    types: {
      context: {} as WizardContext,
      events: {} as WizardEvent,
      input: {} as { variant: string | null },
    },
    guards: {
      canGo: ({ context }, { from, to }: { from: number; to: number }) =>
        neighbour(steps, context, from, Math.sign(to - from)) === to &&
        (to < from || isSatisfied(steps[from], context)),
      isComplete: ({ context }) =>
        steps.every((step) => !isPresent(step, context) || isSatisfied(step, context)),
      isFirst: ({ context }, { from }: { from: number }) => neighbour(steps, context, from, -1) === undefined,
    },
    actions: {
      chooseAgent: assign({
        agentId: ({ context, event }) => (event.type === 'agent.chosen' ? event.agentId : context.agentId),
      }),
      chooseVariant: assign({
        variant: ({ context, event }) => (event.type === 'variant.chosen' ? event.variant : context.variant),
      }),
      noteValidity: assign({
        validSteps: ({ context, event }) =>
          event.type === 'form.checked' ? withValidity(context.validSteps, event) : context.validSteps,
      }),
      keepError: assign({ error: ({ event }) => (event.type === 'submit.failed' ? event.error : null) }),
      clearError: assign({ error: null }),
    },
  })

  const indices = steps.map((_, index) => index)
  const stepStates = steps.map(({ id }, from) => {
    const moveTo = (to: number) => ({
      guard: { type: 'canGo', params: { from, to } } as const,
      target: steps[to]?.id ?? id,
    })
    const state = wizard.createStateConfig({
      on: {
        next: indices.filter((to) => to > from).map(moveTo),
        back: [
          ...indices.filter((to) => to < from).map(moveTo),
          { guard: { type: 'isFirst', params: { from } }, target: 'left' },
        ],
        ...(from === steps.length - 1 && {
          submit: { guard: 'isComplete', target: 'submitting', actions: 'clearError' },
        }),
      },
    })
    return [id, state] as const
  })

  return wizard.createMachine({
    id: `${kind}Wizard`,
    context: ({ input }) => ({ agentId: null, variant: input.variant, validSteps: [], error: null }),
    initial: steps[0]?.id ?? 'left',
    on: {
      'agent.chosen': { actions: 'chooseAgent' },
      'variant.chosen': { actions: 'chooseVariant' },
      'form.checked': { actions: 'noteValidity' },
      'error.dismissed': { actions: 'clearError' },
    },
    states: {
      ...Object.fromEntries(stepStates),
      submitting: {
        on: {
          'submit.succeeded': { target: 'created' },
          'submit.failed': { target: steps.at(-1)?.id ?? 'left', actions: 'keepError' },
        },
      },
      created: { type: 'final' },
      left: { type: 'final' },
    },
  })
}

/** The Linux wizard. */
export const linuxWizardMachine = wizardMachine(linuxWizard)

/** A step as the stepper shows it; steps that the variant leaves out are not shown. */
export type StepperStep = { id: string; number: number; state: 'done' | 'current' | 'waiting' }

/** The stepper of a wizard at a state: a step's id, or `submitting` and `created` behind the last. */
export function stepperOf({ steps }: WizardDefinition, state: string, context: WizardContext): StepperStep[] {
  const shown = steps.filter((step) => isPresent(step, context))
  const at = shown.findIndex((step) => step.id === state)
  const current = at < 0 ? shown.length : at
  return shown.map(({ id }, index) => ({
    id,
    number: index + 1,
    state: index < current ? 'done' : index === current ? 'current' : 'waiting',
  }))
}

const isPresent = ({ when }: WizardStep, { variant }: WizardContext): boolean =>
  when === undefined || (variant !== null && when.includes(variant))

function isSatisfied(step: WizardStep | undefined, { agentId, validSteps }: WizardContext): boolean {
  if (step === undefined || step.needs === 'nothing') return true
  return step.needs === 'agent' ? agentId !== null : validSteps.includes(step.id)
}

/** The next present step in this direction. */
function neighbour(
  steps: readonly WizardStep[],
  context: WizardContext,
  from: number,
  direction: number,
): number | undefined {
  for (let index = from + direction; index >= 0 && index < steps.length; index += direction) {
    const step = steps[index]
    if (step !== undefined && isPresent(step, context)) return index
  }
  return undefined
}

const withValidity = (validSteps: string[], { step, valid }: { step: string; valid: boolean }): string[] => [
  ...validSteps.filter((id) => id !== step),
  ...(valid ? [step] : []),
]
