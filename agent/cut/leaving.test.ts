import { describe, expect, it } from 'vitest'
import type { Held } from '../held-entries.ts'
import { createLeaving, wasCutLately } from './leaving.ts'

const now = 1_000_000
const standpoint = { now, truthAt: now, mayOpen: true }

function holder({ open = true, cut = false, stands = true as boolean | null }): Held {
  return {
    entry: {
      targetId: crypto.randomUUID(),
      address: '192.0.2.1',
      epoch: 'e',
      generation: 1,
      desired: open ? 'open' : 'closed',
      until: open ? now + 60_000 : 0,
      silence: null,
      cut,
      userName: 'erika',
    },
    applied: stands === null ? null : { generation: 1, outcome: 'verified', atMs: now - 1_000, stands },
    isUnanswered: false,
    lastOutcome: null,
    touchedAt: 0,
  }
}

describe('whose wish counts when an address leaves a list', () => {
  it('that of anybody who held it to the last', () => {
    const { saysCut } = createLeaving()
    expect(saysCut([holder({ cut: false }), holder({ open: false, cut: true })])).toBe(true)
    expect(saysCut([holder({ cut: false }), holder({ open: false, cut: false })])).toBe(false)
  })

  it('not of one who left while somebody else stayed', () => {
    const leaving = createLeaving()
    const [gone, staying] = [holder({ open: false, cut: true }), holder({ cut: false })]
    leaving.noteStanding([gone, staying], standpoint)
    expect(leaving.saysCut([gone, holder({ open: false, cut: false })])).toBe(false)
    // Let in again by a new order and gone with the others, he counts.
    expect(leaving.saysCut([holder({ open: false, cut: true }), staying])).toBe(true)
  })

  it('nobody’s where nothing stood, and everybody’s where that is not known', () => {
    const { saysCut } = createLeaving()
    expect(saysCut([holder({ open: false, cut: true, stands: false })])).toBe(false)
    expect(saysCut([holder({ open: false, cut: true, stands: null })])).toBe(true)
  })

  it('a start cuts again what was closed lately, and nothing older', () => {
    const closed = [holder({ open: false, cut: true, stands: false })]
    expect(wasCutLately(closed, now)).toBe(true)
    expect(wasCutLately(closed, now + 3_600_000)).toBe(false)
    expect(wasCutLately([holder({ open: false, stands: false })], now)).toBe(false)
  })
})
