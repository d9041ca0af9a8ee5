import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { hasDirtyForm } from '../../shell/dirty-forms.ts'

/**
 * Asks before a link, a reload or a closed tab takes away what was typed on this page. 'Back' isn't asked about: a
 * page can't hold it.
 */
export function UnsavedGuard() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const [target, setTarget] = useState<string>()
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const href = hasDirtyForm() ? internalLink(event) : undefined
      if (href === undefined) return
      event.preventDefault()
      event.stopPropagation()
      setTarget(href)
    }
    const onUnload = (event: BeforeUnloadEvent) => hasDirtyForm() && event.preventDefault()
    // Before the router sees the click.
    document.addEventListener('click', onClick, { capture: true })
    window.addEventListener('beforeunload', onUnload)
    return () => {
      document.removeEventListener('click', onClick, { capture: true })
      window.removeEventListener('beforeunload', onUnload)
    }
  }, [])
  return (
    <ConfirmDialog
      open={target !== undefined}
      onClose={() => setTarget(undefined)}
      onConfirm={() => target !== undefined && navigate(target)}
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
