import { describe, expect, test } from 'vitest'
import { createActor } from 'xstate'
import {
  allCreationSteps,
  type CreationEvent,
  creationSteps,
  knocCreateMachine,
  progressOf,
} from './knoc-create.machine.ts'
import { differences, unreachable } from './testing/transition-table.ts'

const events = {
  backendDone: { type: 'step.done', step: 'backend' },
  aclDone: { type: 'step.done', step: 'acl' },
  membersDone: { type: 'step.done', step: 'members' },
  aclFailed: { type: 'step.failed', step: 'acl', error: 'err.invalidField' },
  backendFailed: { type: 'step.failed', step: 'backend', error: 'err.invalidField' },
  backendUndone: { type: 'step.undone', step: 'backend' },
  aclUndone: { type: 'step.undone', step: 'acl' },
  rolledBack: { type: 'rolledBack' },
} satisfies Record<string, CreationEvent>

const plans = (['new', 'existing', 'none'] as const).flatMap((apiKey) =>
  [false, true].map((child) => ({ apiKey, child })),
)

describe('creating a knoc', () => {
  test('goes forward by its due step only, and back from the last one done', () => {
    const steps = creationSteps({ apiKey: 'none', child: false })
    const context = { steps, done: ['backend'], error: null }
    const table = {
      creating: { aclFailed: 'rollingBack' },
      rollingBack: { backendUndone: 'failed', rolledBack: 'failed' },
      created: {},
      failed: {},
    }
    expect(differences({ machine: knocCreateMachine, context, events, table })).toEqual([])
    const last = { ...context, done: ['backend', 'acl'] }
    const lastTable = {
      ...table,
      creating: { membersDone: 'created' },
      rollingBack: { rolledBack: 'failed' },
    }
    expect(differences({ machine: knocCreateMachine, context: last, events, table: lastTable })).toEqual([])
  })

  test('reaches every state', () => {
    const input = { apiKey: 'none', child: false } as const
    expect(unreachable({ machine: knocCreateMachine, input, events: Object.values(events) })).toEqual([])
  })

  test('has the key before the entry, the parent before the child, and members last', () => {
    expect(creationSteps({ apiKey: 'new', child: true })).toEqual(allCreationSteps)
    expect(creationSteps({ apiKey: 'none', child: false })).toEqual(['backend', 'acl', 'members'])
    expect(creationSteps({ apiKey: 'existing', child: false })).toEqual([
      'backend',
      'apiKey',
      'acl',
      'members',
    ])
  })

  test.each(plans)(
    'undoes exactly what was done, in reverse, wherever it fails (key $apiKey, child $child)',
    (plan) => {
      const steps = creationSteps(plan)
      for (const [index, failing] of steps.entries()) {
        const actor = createActor(knocCreateMachine, { input: plan }).start()
        for (const step of steps.slice(0, index)) actor.send({ type: 'step.done', step })
        actor.send({ type: 'step.failed', step: failing, error: 'err.internal' })
        const undone: string[] = []
        while (actor.getSnapshot().value === 'rollingBack') {
          const step = actor.getSnapshot().context.done.at(-1)
          if (step === undefined) throw new Error('nothing left to undo')
          undone.push(step)
          actor.send({ type: 'step.undone', step })
        }
        expect(undone).toEqual(steps.slice(0, index).toReversed())
        expect(actor.getSnapshot().value).toBe('failed')
        expect(actor.getSnapshot().context.error).toBe('err.internal')
      }
    },
  )

  test('a rollback of the transaction undoes everything at once', () => {
    const actor = createActor(knocCreateMachine, { input: { apiKey: 'new', child: true } }).start()
    for (const step of ['backend', 'apiKey', 'acl'] as const) actor.send({ type: 'step.done', step })
    actor.send({ type: 'step.failed', step: 'childBackend', error: 'err.targetTaken' })
    actor.send({ type: 'rolledBack' })
    expect(actor.getSnapshot().value).toBe('failed')
    expect(actor.getSnapshot().context.done).toEqual([])
  })

  test('shows what is done, at work and to come', () => {
    const actor = createActor(knocCreateMachine, { input: { apiKey: 'none', child: false } }).start()
    actor.send({ type: 'step.done', step: 'backend' })
    const states = () => progressOf(actor.getSnapshot().context).map(({ state }) => state)
    expect(states()).toEqual(['done', 'current', 'waiting'])
    actor.send({ type: 'step.failed', step: 'acl', error: 'err.internal' })
    expect(states()).toEqual(['done', 'waiting', 'waiting'])
    actor.send({ type: 'rolledBack' })
    expect(states()).toEqual(['waiting', 'waiting', 'waiting'])
  })
})
