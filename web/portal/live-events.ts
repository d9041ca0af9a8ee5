import type { PortalEvent } from '#server/grants/grant.schema.ts'

/** Waits between tries to open a stream that was refused, in milliseconds. */
const retryMs = { first: 2_000, longest: 60_000 }

const name = 'knoc-events'

/**
 * Live hints for this page: one stream per browser, closed while the page is hidden (decision 40).
 *
 * Of all visible pages the one that holds the lock keeps the stream and passes hints on. Without Web Locks (plain
 * http) each visible page keeps its own. Hints may be lost; polls stand behind them. Answers the way to stop.
 */
export function listenLive(onEvent: (event: PortalEvent) => void): () => void {
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : null
  let leave: AbortController | null = null
  channel?.addEventListener('message', ({ data }) => isPortalEvent(data) && onEvent(data))

  const tell = (event: PortalEvent) => {
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
      void lead(leave.signal, tell)
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

async function lead(signal: AbortSignal, tell: (event: PortalEvent) => void): Promise<void> {
  if (!('locks' in navigator)) return stream(signal, tell)
  try {
    await navigator.locks.request(name, { signal }, () => stream(signal, tell))
  } catch {
    // Left before it was this page's turn.
  }
}

/** Keeps a stream open until the signal says otherwise; resolves then. */
function stream(signal: AbortSignal, tell: (event: PortalEvent) => void): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource | null = null
    let timer: ReturnType<typeof setTimeout> | undefined
    let waitMs = retryMs.first
    const open = () => {
      source = new EventSource('/api/events')
      source.addEventListener('open', () => {
        waitMs = retryMs.first
        // What changed while no stream was open was missed.
        tell({ type: 'status', aclIds: [] })
      })
      source.addEventListener('message', ({ data }) => {
        const event = parse(data)
        if (event) tell(event)
        if (event?.type === 'ended') source?.close()
      })
      source.addEventListener('error', () => {
        if (source?.readyState !== EventSource.CLOSED) return
        timer = setTimeout(open, waitMs)
        waitMs = Math.min(waitMs * 2, retryMs.longest)
      })
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
