import { describe, expect, test } from 'vitest'
import { createActor, fromPromise, SimulatedClock } from 'xstate'
import {
  type AgentLinkEvent,
  agentLinkMachine,
  backOffMs,
  type EnrolmentOutcome,
} from './agent-link.machine.ts'
import { closeCodes } from './protocol.ts'
import { differences, dotted, unreachable } from './testing/transition-table.ts'

/** The link numbers of the table's context: 1 is in use, 2 is to follow it. */
const events = {
  welcome: { type: 'welcome', linkId: 1 },
  welcomeNext: { type: 'welcome', linkId: 2 },
  frame: { type: 'frame.received', linkId: 1 },
  move: { type: 'move', linkId: 1, afterMs: 100 },
  ended: { type: 'link.closed', linkId: 1, code: 1006 },
  endedNext: { type: 'link.closed', linkId: 2, code: 1006 },
  endedOther: { type: 'link.closed', linkId: 7, code: closeCodes.unknownAgent },
  unknown: { type: 'link.closed', linkId: 1, code: closeCodes.unknownAgent },
  conflict: { type: 'link.closed', linkId: 1, code: closeCodes.conflict },
  unsupported: { type: 'link.closed', linkId: 1, code: closeCodes.unsupportedProtocol },
  superseded: { type: 'link.closed', linkId: 1, code: closeCodes.superseded },
  stop: { type: 'stop' },
} satisfies Record<string, AgentLinkEvent>

const refusals = {
  unknown: 'refused.unknown',
  conflict: 'refused.conflict',
  unsupported: 'refused.unsupported',
  superseded: 'backingOff',
  ended: 'backingOff',
}
const stop = 'stopped'
/** The old link's end is expected while its successor is being made, whatever the reason. */
const followed = Object.fromEntries(Object.keys(refusals).map((name) => [name, 'connecting']))

const table = {
  // Left before any event can come.
  starting: {},
  enrolling: { stop },
  connecting: { ...refusals, welcome: 'linked', stop },
  linked: { ...refusals, move: 'moving.waiting', stop },
  'moving.waiting': { ...refusals, stop },
  'moving.opening': { ...followed, welcomeNext: 'linked', endedNext: 'linked', stop },
  backingOff: { stop },
  'refused.enrolment': { stop },
  'refused.unknown': { stop },
  'refused.conflict': { stop },
  'refused.unsupported': { stop },
  stopped: {},
}

/** An agent on a clock of its own that writes down what it does. */
function run(given: { enrolled: boolean; enrol?: () => Promise<EnrolmentOutcome> }) {
  const clock = new SimulatedClock()
  const deeds: string[] = []
  const machine = agentLinkMachine.provide({
    actors: {
      enrol: fromPromise<EnrolmentOutcome>(given.enrol ?? (() => Promise.resolve('enrolled' as const))),
    },
    actions: {
      openLink: (_scope, { linkId }) => deeds.push(`open ${linkId}`),
      dropLink: (_scope, { linkId }) => deeds.push(`drop ${linkId}`),
      closeEverything: () => deeds.push('close everything'),
    },
    delays: { backOff: ({ context }) => backOffMs(context.attempt, 1) },
  })
  const actor = createActor(machine, { input: { enrolled: given.enrolled }, clock })
  actor.start()
  const state = () => dotted(actor.getSnapshot().value)
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0))
  return { actor, clock, deeds, state, settle }
}

describe('the agent’s link', () => {
  test('goes where the table says, and hears nothing of links it has dropped', () => {
    const machine = agentLinkMachine.provide({
      actions: { openLink: () => {}, dropLink: () => {}, closeEverything: () => {} },
      delays: { backOff: 1000 },
    })
    const context = { enrolled: true, linkId: 1, nextLinkId: 2, attempt: 0, moveAfterMs: 0 }
    const found = differences({ machine, context, events, table })
    expect(found.filter((line) => !line.startsWith('starting '))).toEqual([])
  })

  test('reaches every state but the one it leaves at once', () => {
    const machine = agentLinkMachine.provide({
      actions: { openLink: () => {}, dropLink: () => {}, closeEverything: () => {} },
      delays: { backOff: 1000 },
    })
    const ownEvents = machine.events.filter((type) => type.startsWith('xstate.'))
    const internal = ownEvents.flatMap((type) => ['enrolled', 'refused'].map((output) => ({ type, output })))
    const all = [...Object.values(events), ...internal] as AgentLinkEvent[]
    expect(unreachable({ machine, input: { enrolled: false }, events: all })).toEqual(['starting'])
  })

  test('enrols once, connects, is welcomed and stays while frames come', async () => {
    const { actor, clock, deeds, state, settle } = run({ enrolled: false })
    expect(state()).toBe('enrolling')
    await settle()
    expect([state(), deeds]).toEqual(['connecting', ['open 1']])
    actor.send({ type: 'welcome', linkId: 1 })
    for (let i = 0; i < 10; i++) {
      clock.increment(5_999)
      actor.send({ type: 'frame.received', linkId: 1 })
    }
    expect(state()).toBe('linked')
  })

  test('drops a link that was silent for 6 s and tries again', () => {
    const { actor, clock, deeds, state } = run({ enrolled: true })
    actor.send({ type: 'welcome', linkId: 1 })
    clock.increment(5_999)
    expect(state()).toBe('linked')
    clock.increment(1)
    expect([state(), deeds]).toEqual(['backingOff', ['open 1', 'drop 1']])
    clock.increment(500)
    expect([state(), deeds.at(-1)]).toEqual(['connecting', 'open 2'])
    actor.send({ type: 'welcome', linkId: 1 })
    expect(state()).toBe('connecting')
    actor.send({ type: 'welcome', linkId: 2 })
    expect(state()).toBe('linked')
  })

  test('waits 10 s for a welcome, no longer', () => {
    const { clock, deeds, state } = run({ enrolled: true })
    clock.increment(10_000)
    expect([state(), deeds]).toEqual(['backingOff', ['open 1', 'drop 1']])
  })

  test('asked to move, it has the new link before it drops the old one', () => {
    const { actor, clock, deeds, state } = run({ enrolled: true })
    actor.send({ type: 'welcome', linkId: 1 })
    actor.send({ type: 'move', linkId: 1, afterMs: 700 })
    clock.increment(699)
    expect([state(), deeds]).toEqual(['moving.waiting', ['open 1']])
    clock.increment(1)
    expect([state(), deeds]).toEqual(['moving.opening', ['open 1', 'open 2']])
    actor.send({ type: 'welcome', linkId: 2 })
    expect([state(), deeds]).toEqual(['linked', ['open 1', 'open 2', 'drop 1']])
    actor.send({ type: 'link.closed', linkId: 1, code: closeCodes.superseded })
    expect(state()).toBe('linked')
    expect(actor.getSnapshot().context).toMatchObject({ linkId: 2, nextLinkId: null })
  })

  test('keeps the old link when the new one cannot be had, and the new one when the old ends first', () => {
    const first = run({ enrolled: true })
    first.actor.send({ type: 'welcome', linkId: 1 })
    first.actor.send({ type: 'move', linkId: 1, afterMs: 0 })
    first.clock.increment(0)
    first.clock.increment(10_000)
    expect([first.state(), first.deeds]).toEqual(['linked', ['open 1', 'open 2', 'drop 2']])

    const second = run({ enrolled: true })
    second.actor.send({ type: 'welcome', linkId: 1 })
    second.actor.send({ type: 'move', linkId: 1, afterMs: 0 })
    second.clock.increment(0)
    second.actor.send({ type: 'link.closed', linkId: 1, code: closeCodes.superseded })
    expect(second.state()).toBe('connecting')
    second.actor.send({ type: 'welcome', linkId: 2 })
    expect([second.state(), second.deeds]).toEqual(['linked', ['open 1', 'open 2']])
  })

  test('told that it is unknown, it closes everything; in conflict it stays away for minutes', () => {
    const unknown = run({ enrolled: true })
    unknown.actor.send({ type: 'link.closed', linkId: 1, code: closeCodes.unknownAgent })
    expect([unknown.state(), unknown.deeds]).toEqual(['refused.unknown', ['open 1', 'close everything']])

    const conflict = run({ enrolled: true })
    conflict.actor.send({ type: 'link.closed', linkId: 1, code: closeCodes.conflict })
    conflict.clock.increment(299_999)
    expect([conflict.state(), conflict.deeds]).toEqual(['refused.conflict', ['open 1']])
    conflict.clock.increment(1)
    expect([conflict.state(), conflict.deeds.at(-1)]).toEqual(['connecting', 'open 2'])
  })

  test('a refused token is not tried again at once, a network fault is', async () => {
    const refused = run({ enrolled: false, enrol: () => Promise.resolve('refused') })
    await refused.settle()
    expect(refused.state()).toBe('refused.enrolment')
    const faulty = run({ enrolled: false, enrol: () => Promise.reject(new Error('no route')) })
    await faulty.settle()
    expect(faulty.state()).toBe('backingOff')
    faulty.clock.increment(500)
    expect(faulty.state()).toBe('enrolling')
  })

  test('backs off with full jitter up to 15 s, and starts small again after a frame', () => {
    expect(backOffMs(0, 1)).toBe(250)
    expect(backOffMs(3, 0.5)).toBe(1_000)
    expect(backOffMs(6, 1)).toBe(15_000)
    expect(backOffMs(10_000, 1)).toBe(15_000)
    expect(backOffMs(6, 0)).toBe(0)
    const { actor, clock } = run({ enrolled: true })
    for (let linkId = 1; linkId <= 4; linkId++) {
      actor.send({ type: 'link.closed', linkId, code: 1006 })
      clock.increment(15_000)
    }
    expect(actor.getSnapshot().context.attempt).toBe(4)
    actor.send({ type: 'welcome', linkId: 5 })
    expect(actor.getSnapshot().context.attempt).toBe(4)
    actor.send({ type: 'frame.received', linkId: 5 })
    expect(actor.getSnapshot().context.attempt).toBe(0)
  })

  test('stopped, it drops what it has and is done', () => {
    const { actor, deeds } = run({ enrolled: true })
    actor.send({ type: 'welcome', linkId: 1 })
    actor.send({ type: 'stop' })
    expect(actor.getSnapshot().status).toBe('done')
    expect(deeds).toContain('drop 1')
  })

  test('fails loudly when nobody told it how to open a link', () => {
    const actor = createActor(agentLinkMachine, { input: { enrolled: true } })
    const faults: unknown[] = []
    actor.subscribe({ error: (fault) => faults.push(fault) })
    actor.start()
    expect(String(faults[0])).toBe('Error: agentLink: "openLink" was not provided')
  })
})
