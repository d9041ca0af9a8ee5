import { useEffect } from 'react'
import type { Realm } from './realm.ts'
import type { SsoWay } from './sign-in-ways.ts'
import { startSso } from './sso-buttons.tsx'

/** Enter with nothing focused starts single sign-on: SAML where there is one, else OpenID Connect. Portal §2. */
export function useEnterForSso(realm: Realm, ways: readonly SsoWay[], kioskMode?: boolean): void {
  const [way] = ways
  useEffect(() => {
    if (way === undefined) return undefined
    const start = (event: KeyboardEvent) => {
      if (!isBareEnter(event) || hasFocus()) return
      event.preventDefault()
      startSso(realm, way, kioskMode)
    }
    document.addEventListener('keydown', start)
    return () => document.removeEventListener('keydown', start)
  }, [realm, way, kioskMode])
}

const isBareEnter = ({
  key,
  repeat,
  isComposing,
  altKey,
  ctrlKey,
  metaKey,
  shiftKey,
}: KeyboardEvent): boolean =>
  key === 'Enter' && !repeat && !isComposing && !altKey && !ctrlKey && !metaKey && !shiftKey

const hasFocus = (): boolean =>
  document.activeElement !== null &&
  document.activeElement !== document.body &&
  document.activeElement !== document.documentElement
