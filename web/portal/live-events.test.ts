import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { PortalEvent } from '#server/grants/grant.schema.ts'
import { listenLive, tellTabs } from './live-events.ts'

class FakeStream extends EventTarget {
  isClosed = false
  readonly openedAt = Date.now()
  close() {
    this.isClosed = true
  }
  say(event: unknown) {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(event) }))
  }
}

let streams: FakeStream[] = []
let heard: PortalEvent[] = []
let page: EventTarget & { visibilityState: string }
let stop: (() => void) | undefined

beforeEach(() => {
  vi.useFakeTimers()
  streams = []
  heard = []
  page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  vi.stubGlobal('document', page)
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('BroadcastChannel', undefined)
  Reflect.deleteProperty(globalThis, 'BroadcastChannel')
  vi.stubGlobal(
    'EventSource',
    class extends FakeStream {
      constructor() {
        super()
        streams.push(this)
      }
    },
  )
  stop = listenLive((event) => heard.push(event))
})
afterEach(() => {
  stop?.()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const show = (visibilityState: string) => {
  page.visibilityState = visibilityState
  page.dispatchEvent(new Event('visibilitychange'))
}
const open = () => streams.filter(({ isClosed }) => !isClosed)

it('hears hints, and asks once when a stream opens for what was missed before', () => {
  streams[0]?.dispatchEvent(new Event('open'))
  streams[0]?.say({ type: 'status', aclIds: ['a'] })
  expect(heard).toEqual([
    { type: 'status', aclIds: [] },
    { type: 'status', aclIds: ['a'] },
  ])
})

it('takes nothing that is no hint', () => {
  streams[0]?.dispatchEvent(new MessageEvent('message', { data: 'x' }))
  streams[0]?.say(null)
  streams[0]?.say({ type: 'navigate', to: '//elsewhere' })
  expect(heard).toEqual([])
})

it('does not come back from what this page has told the other tabs', () => {
  const channels = new Set<EventTarget>()
  vi.stubGlobal(
    'BroadcastChannel',
    class extends EventTarget {
      constructor() {
        super()
        channels.add(this)
      }
      postMessage(data: unknown) {
        for (const other of channels)
          if (other !== this) other.dispatchEvent(new MessageEvent('message', { data }))
      }
      close() {
        channels.delete(this)
      }
    },
  )
  stop?.()
  stop = listenLive((event) => heard.push(event))
  const [own] = channels
  const told: unknown[] = []
  own?.addEventListener('message', (event) => told.push(event))
  tellTabs()
  expect([told.length, heard]).toEqual([1, []])
  own?.dispatchEvent(new MessageEvent('message', { data: { type: 'status', aclIds: [], from: 'another' } }))
  expect(heard).toHaveLength(1)
})

it('is closed while the page is hidden, and opened when it is seen again', async () => {
  show('hidden')
  expect(open()).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(120_000)
  expect(streams).toHaveLength(1)
  show('visible')
  expect(open()).toHaveLength(1)
})

it('is opened again with growing waits while it is refused, at most a minute', async () => {
  const waits: number[] = []
  for (let i = 0; i < 12; i += 1) {
    const refusedAt = Date.now()
    streams.at(-1)?.dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(80_000)
    waits.push((streams.at(-1)?.openedAt ?? 0) - refusedAt)
  }
  expect(waits).toHaveLength(12)
  expect(waits[0]).toBeLessThanOrEqual(2_500)
  expect(waits[0]).toBeGreaterThanOrEqual(1_500)
  expect(Math.min(...waits.slice(6))).toBeGreaterThanOrEqual(45_000)
  expect(Math.max(...waits)).toBeLessThanOrEqual(75_000)
  expect(open()).toHaveLength(1)
})

it('goes on with the stream of the next session when one has ended', async () => {
  streams[0]?.dispatchEvent(new Event('open'))
  streams[0]?.say({ type: 'ended' })
  expect(heard.at(-1)).toEqual({ type: 'ended' })
  expect(open()).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(open()).toHaveLength(1)
})

it('leaves nothing behind', async () => {
  streams[0]?.dispatchEvent(new Event('error'))
  stop?.()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(streams).toHaveLength(1)
  expect(() => tellTabs()).not.toThrow()
})
