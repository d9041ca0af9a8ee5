/** What this browser keeps across sign-ins; never written on a public computer. Portal §3, specification README "Browser storage". */
export type LocalKey = 'view' | 'favouriteAclIds' | 'topAclIds' | 'jsBundleHash' | 'colourMode'
/** What this tab keeps: the last status of each realm (no secret), dismissed banners, what was done once. */
export type SessionKey =
  | 'userSession'
  | 'adminSession'
  | 'dismissedBanners'
  | 'autoBrowseDone'
  | 'reloadedForHash'
  | 'signInPopup'
  | 'signingOut'
  | 'referrer'

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export type BrowserStorage = {
  /** A value as it was written; undefined when there is none or it can't be read. Check its shape before use. */
  readLocal(key: LocalKey): unknown
  writeLocal(key: LocalKey, value: unknown): void
  /** Calls back when another tab changes a value, with the new one. Answers the way to stop. */
  onLocalChange(key: string, act: (value: unknown) => void): () => void
  /** Shows a value to the other tabs' `onLocalChange` and keeps nothing. */
  flashLocal(key: string, value: unknown): void
  readSession(key: SessionKey): unknown
  writeSession(key: SessionKey, value: unknown): void
  clearSession(key: SessionKey): void
  /** On a public computer what would be kept is held in memory, until the page goes. */
  setKiosk(isKiosk: boolean): void
}

/**
 * Storage that never throws: it may be full, switched off, or hold anything at all.
 *
 * Texts are stored as they are, everything else as JSON.
 */
export function createBrowserStorage(stores: { local: Store; session: Store }): BrowserStorage {
  const memory = new Map<string, unknown>()
  let isKiosk = false
  return {
    readLocal: (key) => (memory.has(key) ? memory.get(key) : read(stores.local, key)),
    writeLocal: (key, value) => {
      if (isKiosk) memory.set(key, value)
      else write(stores.local, key, value)
    },
    onLocalChange: (key, act) => {
      const hear = (event: StorageEvent) => {
        if (event.key === key && event.newValue !== null) act(parse(event.newValue))
      }
      addEventListener('storage', hear)
      return () => removeEventListener('storage', hear)
    },
    flashLocal: (key, value) => {
      if (isKiosk) return
      write(stores.local, key, value)
      attempt(() => stores.local.removeItem(key))
    },
    readSession: (key) => read(stores.session, key),
    writeSession: (key, value) => write(stores.session, key, value),
    clearSession: (key) => attempt(() => stores.session.removeItem(key)),
    setKiosk: (next) => {
      isKiosk = next
      if (!next) memory.clear()
    },
  }
}

function read(store: Store, key: string): unknown {
  const text = attempt(() => store.getItem(key))
  return text === null || text === undefined ? undefined : parse(text)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const write = (store: Store, key: string, value: unknown): void =>
  attempt(() => store.setItem(key, typeof value === 'string' ? value : JSON.stringify(value)))

const attempt = <T>(act: () => T): T | undefined => {
  try {
    return act()
  } catch {
    return undefined
  }
}

const nowhere: Store = { getItem: () => null, setItem: () => {}, removeItem: () => {} }

/**
 * The page's own storage; reaching for it throws where it is switched off. Reached for when it is first asked: the
 * browser reads it from its disk then, and everything waits.
 */
export const browserStorage: BrowserStorage = createBrowserStorage({
  get local() {
    return attempt(() => globalThis.localStorage) ?? nowhere
  },
  get session() {
    return attempt(() => globalThis.sessionStorage) ?? nowhere
  },
})
