import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
  type StateValue,
  transition,
} from 'xstate'
import { getShortestPaths, getStateNodes } from 'xstate/graph'

/** `{state: {event: next}}`, nested states with dots; an event left out leaves the state as it is. */
export type TransitionTable<Event extends string> = Record<string, Partial<Record<Event, string>>>

/** Every state of the machine × every event: where the machine goes elsewhere than its table says. */
export function differences<Machine extends AnyStateMachine, Event extends string>(given: {
  machine: Machine
  context: Record<string, unknown>
  events: Record<Event, EventFromLogic<Machine>>
  table: TransitionTable<Event>
}): string[] {
  const { machine, context, events, table } = given
  const states = leafStates(machine)
  const unknown = Object.keys(table).filter((state) => !states.includes(state))
  const missing = states.filter((state) => !Object.hasOwn(table, state))
  const wrong = states.flatMap((state) =>
    Object.entries<EventFromLogic<Machine>>(events).flatMap(([name, event]) => {
      const snapshot = machine.resolveState({ value: toValue(state), context }) as SnapshotFrom<Machine>
      const [next] = transition(machine, snapshot, event)
      const expected = table[state]?.[name as Event] ?? state
      const actual = dotted((next as AnyMachineSnapshot).value)
      return actual === expected ? [] : [`${state} --${name}--> ${actual}, not ${expected}`]
    }),
  )
  return [
    ...unknown.map((state) => `${state} is no state of the machine`),
    ...missing.map((state) => `${state} is not in the table`),
    ...wrong,
  ]
}

/** States no sequence of these events leads to. */
export function unreachable<Machine extends AnyStateMachine>(given: {
  machine: Machine
  input: InputFrom<Machine>
  events: readonly EventFromLogic<Machine>[]
}): string[] {
  const paths = getShortestPaths<AnyStateMachine>(given.machine, {
    input: given.input,
    events: [...given.events],
    // Counters in the context would make endless states of one.
    serializeState: (snapshot) => {
      const { value, context } = snapshot as AnyMachineSnapshot
      const { attempt: _attempt, linkId: _linkId, ...rest } = context as Record<string, unknown>
      return JSON.stringify([value, rest])
    },
    serializeEvent: (event) => JSON.stringify(event),
  })
  const reached = new Set(paths.map(({ state }) => dotted((state as AnyMachineSnapshot).value)))
  return leafStates(given.machine).filter((state) => !reached.has(state))
}

/** The machine's states without children, nested ones with dots. */
export const leafStates = (machine: AnyStateMachine): string[] =>
  getStateNodes(machine)
    .filter((node) => Object.keys(node.states).length === 0)
    .map((node) => node.path.join('.'))

/** A state value as text: `moving.waiting`. */
export function dotted(value: StateValue): string {
  if (typeof value === 'string') return value
  return Object.entries(value)
    .map(([key, child]) => (child === undefined ? key : `${key}.${dotted(child)}`))
    .join('+')
}

function toValue(state: string): StateValue {
  const [head = '', ...rest] = state.split('.')
  return rest.length === 0 ? head : { [head]: toValue(rest.join('.')) }
}
