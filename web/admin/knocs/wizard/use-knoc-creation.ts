import { useState } from 'react'
import { createActor } from 'xstate'
import {
  type CreationPlan,
  type CreationProgress,
  knocCreateMachine,
  progressOf,
} from '#machines/knoc-create.machine.ts'
import type { KnocCreated, KnocInput } from '#server/knocs/knoc.schema.ts'
import { createKnoc } from '../../admin-api.ts'

/** A knoc whose grants an agent carries out: no key, no child. */
const plan: CreationPlan = { apiKey: 'none', child: false }

/**
 * Creates a knoc and tells how far it is, in the creation machine's steps.
 *
 * The server makes all steps in one transaction, so they are done together, or undone together.
 */
export function useKnocCreation() {
  const [progress, setProgress] = useState<CreationProgress[]>([])
  const create = async (body: KnocInput): Promise<KnocCreated> => {
    const actor = createActor(knocCreateMachine, { input: plan })
    actor.subscribe(({ context }) => setProgress(progressOf(context)))
    actor.start()
    try {
      const created = await createKnoc(body)
      for (const step of actor.getSnapshot().context.steps) actor.send({ type: 'step.done', step })
      return created
    } catch (error) {
      const step = actor.getSnapshot().context.steps[0] ?? 'backend'
      actor.send({ type: 'step.failed', step, error: String(error) })
      actor.send({ type: 'rolledBack' })
      throw error
    } finally {
      actor.stop()
    }
  }
  return { create, progress }
}
