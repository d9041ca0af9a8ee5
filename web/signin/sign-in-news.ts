import type { Realm } from './realm.ts'

/** Somebody signed in again in this browser, or didn't: told to every page of the same origin. */
export type SignInNews = { realm: Realm; error: string | null }

const name = 'knoc-sign-in'

/** Tells the other pages of this browser. */
export function tellSignIn(news: SignInNews): void {
  if (!('BroadcastChannel' in globalThis)) return
  const channel = new BroadcastChannel(name)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
  channel.postMessage(news)
  channel.close()
}

/** Listens for a realm's news from other pages of this browser; answers the way to stop. */
export function onSignInNews(realm: Realm, act: (news: SignInNews) => void): () => void {
  if (!('BroadcastChannel' in globalThis)) return () => {}
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', ({ data }) => {
    if (isNews(data) && data.realm === realm) act(data)
  })
  return () => channel.close()
}

const isNews = (data: unknown): data is SignInNews =>
  typeof data === 'object' && data !== null && 'realm' in data && 'error' in data
