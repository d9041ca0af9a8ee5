import { expect, it } from 'vitest'
import { createBrowserStorage } from './browser-storage.ts'

function aStore(kept: Record<string, string> = {}) {
  return {
    kept,
    getItem: (key: string) => kept[key] ?? null,
    setItem: (key: string, value: string) => {
      kept[key] = value
    },
    removeItem: (key: string) => {
      delete kept[key]
    },
  }
}
const broken = {
  getItem: () => {
    throw new Error('switched off')
  },
  setItem: () => {
    throw new Error('full')
  },
  removeItem: () => {
    throw new Error('switched off')
  },
}

it('gives back what was written, texts plain and the rest as JSON', () => {
  const local = aStore()
  const storage = createBrowserStorage({ local, session: aStore() })
  storage.writeLocal('view', 'list')
  storage.writeLocal('favouriteAclIds', ['a'])
  expect(local.kept).toEqual({ view: 'list', favouriteAclIds: '["a"]' })
  expect(storage.readLocal('favouriteAclIds')).toEqual(['a'])
  expect(storage.readLocal('view')).toBe('list')
  expect(storage.readLocal('topAclIds')).toBeUndefined()
})

it('writes nothing on a public computer, yet remembers while the page lives', () => {
  const local = aStore()
  const storage = createBrowserStorage({ local, session: aStore() })
  storage.setKiosk(true)
  storage.writeLocal('view', 'list')
  expect(local.kept).toEqual({})
  expect(storage.readLocal('view')).toBe('list')
  storage.setKiosk(false)
  expect(storage.readLocal('view')).toBeUndefined()
})

it('works on without storage, and with spoilt content', () => {
  const storage = createBrowserStorage({ local: broken, session: broken })
  expect(storage.readLocal('view')).toBeUndefined()
  expect(() => storage.writeSession('userSession', {})).not.toThrow()
  expect(() => storage.clearSession('userSession')).not.toThrow()
  const spoilt = createBrowserStorage({ local: aStore({ favouriteAclIds: '[{' }), session: aStore() })
  expect(spoilt.readLocal('favouriteAclIds')).toBe('[{')
})

it('shows a value to other tabs without keeping it, and nothing at all on a public computer', () => {
  const written: string[] = []
  const local = aStore()
  const watched = {
    ...local,
    setItem: (key: string, value: string) => {
      written.push(`${key}=${value}`)
      local.setItem(key, value)
    },
  }
  const storage = createBrowserStorage({ local: watched, session: aStore() })
  storage.flashLocal('knoc-sign-in', { kind: 'signedOut' })
  expect(written).toEqual(['knoc-sign-in={"kind":"signedOut"}'])
  expect(local.kept).toEqual({})
  storage.setKiosk(true)
  storage.flashLocal('knoc-sign-in', { kind: 'signedOut' })
  expect(written).toHaveLength(1)
})
