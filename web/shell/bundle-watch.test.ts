import { expect, it } from 'vitest'
import { type BundleSighting, judgeBundle } from './bundle-watch.ts'

const judge = (facts: Partial<Parameters<typeof judgeBundle>[0]>) =>
  judgeBundle({
    loaded: 'old',
    named: 'new',
    sighting: null,
    now: 0,
    reloadedFor: [],
    isDirty: false,
    ...facts,
  })

it('stays with its own bundle, without one, and without an answer', () => {
  expect(judge({ named: 'old' }).action).toBe('stay')
  expect(judge({ loaded: null }).action).toBe('stay')
  expect(judge({ named: '' }).action).toBe('stay')
})

it('reloads only when two answers 60 s apart name the same other bundle', () => {
  const first = judge({})
  expect(first).toEqual({ sighting: { hash: 'new', since: 0 }, action: 'stay' })
  expect(judge({ sighting: first.sighting, now: 59_999 }).action).toBe('stay')
  expect(judge({ sighting: first.sighting, now: 60_000 }).action).toBe('reload')
})

it('begins again when the old bundle or a third one answers in between', () => {
  const sighting: BundleSighting = { hash: 'new', since: 0 }
  expect(judge({ sighting, named: 'old', now: 70_000 }).sighting).toBeNull()
  expect(judge({ sighting, named: 'third', now: 70_000 })).toEqual({
    sighting: { hash: 'third', since: 70_000 },
    action: 'stay',
  })
})

it('only offers the new bundle over a form with changes, and after one reload for it', () => {
  const sighting: BundleSighting = { hash: 'new', since: 0 }
  expect(judge({ sighting, now: 60_000, isDirty: true }).action).toBe('offer')
  expect(judge({ sighting, now: 60_000, reloadedFor: ['new'] }).action).toBe('offer')
  expect(judge({ sighting, now: 60_000, reloadedFor: ['older'] }).action).toBe('reload')
})

it('never loops over two bundles that are named in turn, however slowly', () => {
  let reloads = 0
  const reloadedFor: string[] = []
  for (const named of ['a', 'b', 'a', 'b', 'a', 'b']) {
    const first = judge({ named, reloadedFor })
    if (judge({ named, reloadedFor, sighting: first.sighting, now: 3_600_000 }).action !== 'reload') continue
    reloads += 1
    reloadedFor.push(named)
  }
  expect(reloads).toBe(2)
})
