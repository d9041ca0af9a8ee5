import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { hasDirtyForm, useHasDirtyForm } from '../../shell/dirty-forms.ts'

/** Where somebody wanted to go: by a link, or back. */
type Way = { link: string } | 'back'

/**
 * Asks before a link, Back, a reload or a closed tab takes away what was typed on this page. Who jumps over several
 * pages of the history at once isn't asked.
 */
export function UnsavedGuard() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const [way, setWay] = useState<Way>()
  const isLeaving = useRef(false)
  const isDirty = useHasDirtyForm()
  // Saved while it was asked: there is nothing left to ask.
  if (way !== undefined && !isDirty) setWay(undefined)
  useBackStep({ isLeaving: () => isLeaving.current, onBack: () => setWay('back') })
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const link = hasDirtyForm() ? internalLink(event) : undefined
      if (link === undefined) return
      event.preventDefault()
      event.stopPropagation()
      setWay({ link })
    }
    const onUnload = (event: BeforeUnloadEvent) =>
      hasDirtyForm() && !isLeaving.current && event.preventDefault()
    // Before the router sees the click.
    document.addEventListener('click', onClick, { capture: true })
    window.addEventListener('beforeunload', onUnload)
    return () => {
      document.removeEventListener('click', onClick, { capture: true })
      window.removeEventListener('beforeunload', onUnload)
    }
  }, [])
  const leave = () => {
    setWay(undefined)
    if (way === undefined) return
    isLeaving.current = true
    // In place of the extra step; back over it and this page.
    if (way !== 'back') return navigate(way.link, { replace: isStep() })
    window.history.go(-2)
    // Where nothing is before this page it stays, and asks again.
    setTimeout(() => {
      isLeaving.current = false
    }, 1_000)
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

/**
 * While something isn't saved the history has one step more, to this same page: Back takes that one, and the page
 * stays. By the time that a page hears of a step to another one, the router may have gone there.
 *
 * Saved or taken back, the step stays as a spent one, which Back passes over: taking it out is a walk through the
 * history, and what is typed meanwhile would be in its way.
 */
function useBackStep(guard: { isLeaving: () => boolean; onBack: () => void }): void {
  const isDirty = useHasDirtyForm()
  const onPopState = useEffectEvent((pathname: string) => {
    if (guard.isLeaving() || stepHere() !== undefined || window.location.pathname !== pathname) return
    if (!hasDirtyForm()) return window.history.back()
    window.history.forward()
    guard.onBack()
  })
  const isLeaving = useEffectEvent(() => guard.isLeaving())
  useEffect(() => {
    const { pathname } = window.location
    const listen = () => onPopState(pathname)
    window.addEventListener('popstate', listen)
    return () => window.removeEventListener('popstate', listen)
  }, [])
  useEffect(() => {
    if (!isDirty) return undefined
    if (stepHere() === undefined) window.history.pushState({ [step]: 'asking' }, '')
    else markStep('asking')
    return () => {
      if (!isLeaving() && isStep()) markStep('spent')
    }
  }, [isDirty])
}

const step = 'unsaved'
const stepHere = (): unknown => (window.history.state as Record<string, unknown> | null)?.[step]
const isStep = (): boolean => stepHere() === 'asking'
const markStep = (how: 'asking' | 'spent'): void => window.history.replaceState({ [step]: how }, '')

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
