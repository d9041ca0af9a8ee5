import type { PortalEvent } from '#server/grants/grant.schema.ts'

/** Waits before a stream that broke or was refused is opened again, in milliseconds. */
const retryMs = { first: 2_000, longest: 60_000 }
/** A stream that stood for so long was a good one: the next wait is the first again. */
const goodAfterMs = 10_000

const name = 'knoc-events'
/** Tells this page from the other tabs. */
const pageId = `${performance.timeOrigin}.${Math.random()}`

type Tell = (event: PortalEvent) => void

/**
 * Live hints for this page: one stream per browser, closed while the page is hidden (decision 40).
 *
 * Of all visible pages the one that holds the lock keeps the stream and passes hints on. Without Web Locks (plain
 * http), or without a way to pass them on, each visible page keeps its own. Hints may be lost; polls stand behind
 * them. Answers the way to stop.
 */
export function listenLive(onEvent: Tell): () => void {
  const channel = openChannel()
  let leave: AbortController | null = null
  channel?.addEventListener('message', ({ data }) => isPortalEvent(data) && !isOwn(data) && onEvent(data))

  const tell: Tell = (event) => {
    onEvent(event)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
    channel?.postMessage(event)
  }
  const update = () => {
    if (document.visibilityState === 'hidden') {
      leave?.abort()
      leave = null
    } else if (leave === null) {
      leave = new AbortController()
      void (channel ? takeTurn : stream)(leave.signal, tell)
    }
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    leave?.abort()
    channel?.close()
  }
}

/** Tells the other tabs that something was done here, whether or not a stream stands at this moment. */
export function tellTabs(): void {
  const channel = openChannel()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
  channel?.postMessage({ type: 'status', aclIds: [], from: pageId } satisfies PortalEvent & Sent)
  channel?.close()
}

/** What this page has told the others comes back to its own listener. */
type Sent = { from: string }
const isOwn = (data: PortalEvent): boolean => 'from' in data && data.from === pageId

const openChannel = (): BroadcastChannel | null =>
  'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : null

async function takeTurn(signal: AbortSignal, tell: Tell): Promise<void> {
  if (!('locks' in navigator)) return stream(signal, tell)
  try {
    await navigator.locks.request(name, { signal }, () => stream(signal, tell))
  } catch {
    // Left before it was this page's turn.
  }
}

/** Keeps a stream open until the signal says otherwise; resolves then. */
function stream(signal: AbortSignal, tell: Tell): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource | null = null
    let timer: ReturnType<typeof setTimeout> | undefined
    let waitMs = retryMs.first
    let openedAt = Infinity
    const open = () => {
      source = new EventSource('/api/events')
      openedAt = Infinity
      source.addEventListener('open', () => {
        openedAt = Date.now()
        // What changed while no stream was open was missed.
        tell({ type: 'status', aclIds: [] })
      })
      source.addEventListener('message', ({ data }) => {
        const event = parse(data)
        if (event) tell(event)
        // The session of this stream is over; whoever signed in again has another.
        if (event?.type === 'ended') reopen()
      })
      source.addEventListener('error', reopen)
    }
    const reopen = () => {
      source?.close()
      if (Date.now() - openedAt >= goodAfterMs) waitMs = retryMs.first
      timer = setTimeout(open, waitMs * (0.75 + Math.random() / 2))
      waitMs = Math.min(waitMs * 2, retryMs.longest)
    }
    const stop = () => {
      clearTimeout(timer)
      source?.close()
      resolve()
    }
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    open()
  })
}

function parse(data: unknown): PortalEvent | null {
  try {
    const event: unknown = JSON.parse(String(data))
    return isPortalEvent(event) ? event : null
  } catch {
    return null
  }
}

const isPortalEvent = (value: unknown): value is PortalEvent =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  (value.type === 'status' || value.type === 'ended')
