import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { hasDirtyForm } from '../../shell/dirty-forms.ts'

/** Where somebody wanted to go: by a link, or back (or on) through the history, where that entry is the one before. */
type Way = { link: string } | 'history'

/** Asks before a link, Back, a reload or a closed tab takes away what was typed on this page. */
export function UnsavedGuard() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const [way, setWay] = useState<Way>()
  const isLeaving = useRef(false)
  useEffect(() => {
    const { pathname, href } = window.location
    const onClick = (event: MouseEvent) => {
      const link = hasDirtyForm() ? internalLink(event) : undefined
      if (link === undefined) return
      event.preventDefault()
      event.stopPropagation()
      setWay({ link })
    }
    const onPopState = (event: PopStateEvent) => {
      if (isLeaving.current || window.location.pathname === pathname || !hasDirtyForm()) return
      // The history has moved, the page hasn't: the router doesn't hear of it, and this page stands again behind the
      // other, as it did.
      event.stopImmediatePropagation()
      window.history.pushState(null, '', href)
      setWay('history')
    }
    const onUnload = (event: BeforeUnloadEvent) => hasDirtyForm() && event.preventDefault()
    // Before the router sees the click, or the step.
    document.addEventListener('click', onClick, { capture: true })
    window.addEventListener('popstate', onPopState, { capture: true })
    window.addEventListener('beforeunload', onUnload)
    return () => {
      document.removeEventListener('click', onClick, { capture: true })
      window.removeEventListener('popstate', onPopState, { capture: true })
      window.removeEventListener('beforeunload', onUnload)
    }
  }, [])
  const leave = () => {
    if (way === undefined) return
    if (way !== 'history') return navigate(way.link)
    isLeaving.current = true
    window.history.back()
  }
  return (
    <ConfirmDialog
      open={way !== undefined}
      onClose={() => setWay(undefined)}
      onConfirm={leave}
      title={t('admin.unsaved.title')}
      text={t('admin.unsaved.text')}
      confirmLabel={t('admin.unsaved.leave')}
      danger
    />
  )
}

/** The page that a plain click on a link of the console leads to, if it leads away from this one. */
function internalLink({
  target,
  button,
  altKey,
  ctrlKey,
  metaKey,
  shiftKey,
}: MouseEvent): string | undefined {
  if (button !== 0 || altKey || ctrlKey || metaKey || shiftKey || !(target instanceof Element))
    return undefined
  const link = target.closest('a[href]')
  if (!(link instanceof HTMLAnchorElement) || link.target === '_blank') return undefined
  const { origin, pathname, search } = new URL(link.href)
  if (origin !== window.location.origin || pathname === window.location.pathname) return undefined
  return `${pathname}${search}`
}
