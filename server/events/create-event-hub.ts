import type { EventHub } from './event-hub.ts'

/** Carries hints between replicas; may lose any of them. */
export type HintTransport = {
  send(sessionIds: readonly string[]): void
  /** Called once, with what to do with hints of other replicas. */
  listen(receive: (sessionIds: readonly string[]) => void): void
  close(): Promise<void>
}

/** How long hints are collected before they go out, in milliseconds. */
const collectMs = 50

/** Builds the hub. Without a transport (one replica on the embedded database) hints stay in this process. */
export function createEventHub(transport: HintTransport | null): EventHub & { close(): Promise<void> } {
  const listeners = new Map<string, Set<() => void>>()
  let waiting = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | null = null

  function deliver(sessionIds: Iterable<string>): void {
    for (const id of sessionIds) for (const listener of listeners.get(id) ?? []) listener()
  }

  function flush(): void {
    timer = null
    const ids = [...waiting]
    waiting = new Set()
    deliver(ids)
    transport?.send(ids)
  }

  function publish(sessionIds: readonly string[]): void {
    for (const id of sessionIds) waiting.add(id)
    if (waiting.size > 0) timer ??= setTimeout(flush, collectMs)
  }

  function subscribe(sessionId: string, listener: () => void): () => void {
    const set = listeners.get(sessionId) ?? new Set()
    listeners.set(sessionId, set.add(listener))
    return function unsubscribe() {
      set.delete(listener)
      if (set.size === 0) listeners.delete(sessionId)
    }
  }

  async function close(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    await transport?.close()
  }

  transport?.listen(deliver)
  return { publish, subscribe, close }
}
