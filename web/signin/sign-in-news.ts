import { hearTabs, tellTabs } from '../shell/tab-news.ts'
import type { Realm } from './realm.ts'

/** What became of somebody's session in one page of this browser: told to every other page of the same origin. */
export type SignInNews = { realm: Realm } & (
  | {
      kind: 'signedIn'
      /** Hash of the session; null where the page that tells doesn't know it. */
      session: string | null
    }
  /** Signing in again beside the page didn't work; a code of the catalogue. */
  | { kind: 'refused'; error: string }
  | { kind: 'signedOut' }
)

const name = 'knoc-sign-in'

/** Tells the other pages of this browser. */
export const tellSignIn = (news: SignInNews): void => tellTabs(name, news)

/** Listens for a realm's news from other pages of this browser; answers the way to stop. */
export const onSignInNews = (realm: Realm, act: (news: SignInNews) => void): (() => void) =>
  hearTabs(name, (message) => {
    if (isNews(message) && message.realm === realm) act(message)
  })

const kinds = ['signedIn', 'refused', 'signedOut']

const isNews = (message: unknown): message is SignInNews =>
  typeof message === 'object' &&
  message !== null &&
  'realm' in message &&
  'kind' in message &&
  kinds.includes(String(message.kind))
