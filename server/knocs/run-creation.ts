import { initialTransition, transition } from 'xstate'
import {
  type CreationPlan,
  type CreationStep,
  knocCreateMachine,
  progressOf,
} from '#machines/knoc-create.machine.ts'

/** What each step does, inside the one transaction of the creation. */
export type CreationActs = Partial<Record<CreationStep, () => Promise<void>>>

/**
 * Walks the creation's machine: it names the steps and their order, the acts do them. An act that throws ends the
 * walk, and the transaction around it undoes all (decision 17). A step without an act is a fault of ours.
 */
export async function runCreation(plan: CreationPlan, acts: CreationActs): Promise<void> {
  let [state] = initialTransition(knocCreateMachine, plan)
  while (state.status === 'active') {
    const step = progressOf(state.context).find((progress) => progress.state === 'current')?.step
    const act = step && acts[step]
    if (step === undefined || act === undefined)
      throw new Error(`Creating a knoc: no act for ${step ?? 'nothing'}.`)
    await act()
    ;[state] = transition(knocCreateMachine, state, { type: 'step.done', step })
  }
}
