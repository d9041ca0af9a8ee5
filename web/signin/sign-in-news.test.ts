import { expect, it, vi } from 'vitest'
import { onSignInNews, type SignInNews, tellSignIn } from './sign-in-news.ts'

it('reaches the other pages of the same realm, and takes nothing else for news', async () => {
  const heard: SignInNews[] = []
  const stop = onSignInNews('user', (news) => heard.push(news))
  const stranger = new BroadcastChannel('knoc-sign-in')
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
  for (const message of ['signedOut', null, { realm: 'user' }, { realm: 'user', kind: 'other' }]) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
    stranger.postMessage(message)
  }
  stranger.close()
  tellSignIn({ realm: 'admin', kind: 'signedOut' })
  tellSignIn({ realm: 'user', kind: 'signedIn', session: 'abc' })
  tellSignIn({ realm: 'user', kind: 'signedOut' })
  await vi.waitFor(() => expect(heard).toHaveLength(2))
  expect(heard).toEqual([
    { realm: 'user', kind: 'signedIn', session: 'abc' },
    { realm: 'user', kind: 'signedOut' },
  ])
  stop()
})

it('goes by changes to localStorage where there is no BroadcastChannel', () => {
  const { BroadcastChannel } = globalThis
  Reflect.deleteProperty(globalThis, 'BroadcastChannel')
  try {
    const heard: SignInNews[] = []
    const stop = onSignInNews('user', (news) => heard.push(news))
    /** What browsers tell of another tab's change. */
    const change = (key: string, newValue: string | null) =>
      dispatchEvent(Object.assign(new Event('storage'), { key, newValue }))
    change('knoc-sign-in', '{"realm":"user","kind":"signedOut"}')
    change('knoc-sign-in', null)
    change('view', '{"realm":"user","kind":"signedOut"}')
    expect(heard).toEqual([{ realm: 'user', kind: 'signedOut' }])
    stop()
    change('knoc-sign-in', '{"realm":"user","kind":"signedOut"}')
    expect(heard).toHaveLength(1)
  } finally {
    Object.assign(globalThis, { BroadcastChannel })
  }
})
