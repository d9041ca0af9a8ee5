import { describe, expect, test } from 'vitest'
import { createActor } from 'xstate'
import {
  linuxWizard,
  linuxWizardMachine,
  stepperOf,
  type WizardDefinition,
  type WizardEvent,
  wizardMachine,
} from './knoc-wizard.machine.ts'
import { differences, unreachable } from './testing/transition-table.ts'

const events = {
  agentChosen: { type: 'agent.chosen', agentId: 'a1' },
  settingsValid: { type: 'form.checked', step: 'settings', valid: true },
  optionsValid: { type: 'form.checked', step: 'options', valid: true },
  next: { type: 'next' },
  back: { type: 'back' },
  submit: { type: 'submit' },
  succeeded: { type: 'submit.succeeded' },
  failed: { type: 'submit.failed', error: 'err.targetTaken' },
  dismissed: { type: 'error.dismissed' },
} satisfies Record<string, WizardEvent>

/** The application wizard's shape: two steps that only some variants have. */
const branching: WizardDefinition = {
  kind: 'application',
  capability: null,
  steps: [
    { id: 'settings', needs: 'nothing' },
    { id: 'options', needs: 'nothing' },
    { id: 'apiKey', needs: 'nothing', when: ['passive', 'passive+'] },
    { id: 'agent', needs: 'agent', when: ['passive+', 'active'] },
    { id: 'assignments', needs: 'nothing' },
    { id: 'review', needs: 'nothing' },
  ],
}

describe('the Linux wizard', () => {
  const back = { settings: 'agent', options: 'settings', assignments: 'options', review: 'assignments' }

  test('goes nowhere but back while nothing is filled in', () => {
    const context = { agentId: null, variant: null, validSteps: [], error: null }
    const table = {
      agent: { back: 'left' },
      settings: { back: back.settings },
      options: { back: back.options },
      assignments: { back: back.assignments, next: 'review' },
      review: { back: back.review },
      submitting: { succeeded: 'created', failed: 'review' },
      created: {},
      left: {},
    }
    expect(differences({ machine: linuxWizardMachine, context, events, table })).toEqual([])
  })

  test('goes through its five steps once each is filled in', () => {
    const context = { agentId: 'a1', variant: null, validSteps: ['settings', 'options'], error: null }
    const table = {
      agent: { back: 'left', next: 'settings' },
      settings: { back: back.settings, next: 'options' },
      options: { back: back.options, next: 'assignments' },
      assignments: { back: back.assignments, next: 'review' },
      review: { back: back.review, submit: 'submitting' },
      submitting: { succeeded: 'created', failed: 'review' },
      created: {},
      left: {},
    }
    expect(differences({ machine: linuxWizardMachine, context, events, table })).toEqual([])
  })

  test('reaches every step', () => {
    const input = { variant: null }
    expect(unreachable({ machine: linuxWizardMachine, input, events: Object.values(events) })).toEqual([])
  })

  test('Next waits for an agent, and is taken back when the agent is', () => {
    const actor = createActor(linuxWizardMachine, { input: { variant: null } }).start()
    expect(actor.getSnapshot().can({ type: 'next' })).toBe(false)
    actor.send(events.agentChosen)
    expect(actor.getSnapshot().can({ type: 'next' })).toBe(true)
    actor.send({ type: 'agent.chosen', agentId: null })
    expect(actor.getSnapshot().can({ type: 'next' })).toBe(false)
  })

  test('a step that became invalid behind the review stops the submit', () => {
    const actor = createActor(linuxWizardMachine, { input: { variant: null } }).start()
    for (const event of [events.agentChosen, events.settingsValid, events.optionsValid]) actor.send(event)
    for (let i = 0; i < 4; i++) actor.send({ type: 'next' })
    expect(actor.getSnapshot().can({ type: 'submit' })).toBe(true)
    actor.send({ type: 'form.checked', step: 'settings', valid: false })
    expect(actor.getSnapshot().can({ type: 'submit' })).toBe(false)
  })

  test('a failed submit comes back to the review with its error', () => {
    const actor = createActor(linuxWizardMachine, { input: { variant: null } }).start()
    for (const event of [events.agentChosen, events.settingsValid, events.optionsValid]) actor.send(event)
    for (let i = 0; i < 4; i++) actor.send({ type: 'next' })
    actor.send({ type: 'submit' })
    actor.send(events.failed)
    expect(actor.getSnapshot().value).toBe('review')
    expect(actor.getSnapshot().context.error).toBe('err.targetTaken')
    actor.send(events.dismissed)
    expect(actor.getSnapshot().context.error).toBeNull()
  })

  test('its stepper is drawn from its definition', () => {
    const context = { agentId: 'a1', variant: null, validSteps: [], error: null }
    const drawn = stepperOf(linuxWizard, 'options', context).map(
      ({ id, number, state }) => `${number} ${id} ${state}`,
    )
    expect(drawn).toEqual([
      '1 agent done',
      '2 settings done',
      '3 options current',
      '4 assignments waiting',
      '5 review waiting',
    ])
    expect(stepperOf(linuxWizard, 'created', context).every(({ state }) => state === 'done')).toBe(true)
  })
})

describe('a wizard with variants', () => {
  test.each([
    { variant: 'passive', path: ['settings', 'options', 'apiKey', 'assignments', 'review'] },
    { variant: 'passive+', path: ['settings', 'options', 'apiKey', 'agent', 'assignments', 'review'] },
    { variant: 'active', path: ['settings', 'options', 'agent', 'assignments', 'review'] },
  ])('$variant goes $path and the same way back', ({ variant, path }) => {
    const actor = createActor(wizardMachine(branching), { input: { variant } }).start()
    actor.send(events.agentChosen)
    const walk = (type: 'next' | 'back') =>
      path.slice(1).map(() => {
        actor.send({ type })
        return actor.getSnapshot().value
      })
    expect(walk('next')).toEqual(path.slice(1))
    expect(walk('back')).toEqual(path.slice(0, -1).toReversed())
    expect(stepperOf(branching, 'settings', actor.getSnapshot().context).map(({ id }) => id)).toEqual(path)
  })
})
