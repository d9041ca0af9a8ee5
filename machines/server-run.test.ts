import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { setup, spawnChild } from 'xstate'
import { getStateNodes } from 'xstate/graph'
import { grantMachine } from './grant.machine.ts'
import { knocCreateMachine } from './knoc-create.machine.ts'
import { signInMachine } from './sign-in.machine.ts'

/** File → machine: those the server runs as functions in its transactions (decision 36). */
const serverRun: Record<string, AnyStateMachine> = {
  'grant.machine.ts': grantMachine,
  'knoc-create.machine.ts': knocCreateMachine,
  'sign-in.machine.ts': signInMachine,
}

const pureBuiltins = new Set(['xstate.assign'])

/** What of a machine would need an actor: delays, invoked and spawned actors, messages. */
function impurities(machine: AnyStateMachine): string[] {
  const named = Object.entries(machine.implementations.actions).map(([name, action]) => ({ name, action }))
  const inline = getStateNodes(machine)
    .concat(machine.root)
    .flatMap((node) => [
      ...node.entry,
      ...node.exit,
      ...[...node.transitions.values()].flat().flatMap((transition) => transition.actions),
      ...(node.always ?? []).flatMap((transition) => transition.actions),
    ])
    .map((action) => ({ name: 'inline', action }))
  const actions = [...named, ...inline].flatMap(({ name, action }) => {
    const type = builtinType(action)
    return type === null || pureBuiltins.has(type) ? [] : [`action ${name} is ${type}`]
  })
  const nodes = getStateNodes(machine)
    .concat(machine.root)
    .flatMap((node) => [
      ...node.invoke.map(() => `${node.id} invokes`),
      ...node.after.map(() => `${node.id} waits by itself`),
    ])
  return [...nodes, ...actions]
}

const builtinType = (action: unknown): string | null => {
  const type =
    (typeof action === 'function' || typeof action === 'object') && action && 'type' in action && action.type
  return typeof type === 'string' && type.startsWith('xstate.') ? type : null
}

describe('machines that the server runs', () => {
  test.each(Object.entries(serverRun))('%s has no after, invoke or spawn', (_, machine) => {
    expect(impurities(machine)).toEqual([])
  })

  test('a machine that has them would be noticed', () => {
    const impure = setup({
      types: { events: {} as { type: 'go' } },
      actors: { other: grantMachine },
      actions: { spawnIt: spawnChild('other', { input: { passive: true, agentOnline: true } }) },
    }).createMachine({
      initial: 'a',
      states: {
        a: { after: { 1000: 'b' }, on: { go: { actions: 'spawnIt' } } },
        b: { invoke: { src: 'other', input: { passive: true, agentOnline: true } } },
      },
    })
    const found = impurities(impure)
    for (const part of ['a waits by itself', 'b invokes', 'action spawnIt is xstate.spawnChild'])
      expect(found.some((text) => text.includes(part))).toBe(true)
  })

  test('every machine that the server imports is one of them', () => {
    const root = new URL('../server/', import.meta.url)
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    const imported = files.flatMap((name) =>
      [
        ...readFileSync(new URL(name, root), 'utf8').matchAll(/from '#machines\/([\w.-]+\.machine\.ts)'/g),
      ].map(([, file]) => file ?? ''),
    )
    expect(imported.filter((file) => !Object.hasOwn(serverRun, file))).toEqual([])
  })
})
