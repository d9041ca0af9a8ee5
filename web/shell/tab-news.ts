import { browserStorage } from './browser-storage.ts'

/**
 * Tells every other page of this origin in this browser, which hear it at once: by a BroadcastChannel, else by what
 * browsers say of changes to localStorage, where the message is gone again at once.
 */
export function tellTabs(name: string, message: unknown): void {
  if (!('BroadcastChannel' in globalThis)) return browserStorage.flashLocal(name, message)
  const channel = new BroadcastChannel(name)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
  channel.postMessage(message)
  channel.close()
}

/** Hears what other pages tell by this name; anything at all may come. Answers the way to stop. */
export function hearTabs(name: string, act: (message: unknown) => void): () => void {
  if (!('BroadcastChannel' in globalThis)) return browserStorage.onLocalChange(name, act)
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', ({ data }) => act(data))
  return () => channel.close()
}
