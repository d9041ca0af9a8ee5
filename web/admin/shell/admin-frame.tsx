import { Dialog, DialogBackdrop, DialogPanel } from '@headlessui/react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { pollMs, queries } from '../admin-queries.ts'
import { AdminBanners } from './admin-banners.tsx'
import { AdminSidebar } from './admin-sidebar.tsx'
import { AdminTopBar } from './admin-top-bar.tsx'

/** Sidebar, top bar and banners around the open page; below 1024 px the sidebar is a drawer. */
export function AdminFrame({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const [path] = useLocation()
  const [isDrawerOpen, setIsDrawerOpen] = useState(false)
  const status = useQuery({ ...queries.status, refetchInterval: pollMs.shell }).data
  const main = useRef<HTMLElement>(null)
  useFocusOnNavigation(main, path)
  const closeDrawer = () => setIsDrawerOpen(false)
  return (
    <div className="flex flex-1">
      <a
        href="#content"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-accent px-4 py-2 font-semibold text-on-accent focus:translate-y-0"
      >
        {t('shell.skip')}
      </a>
      <aside className="sticky top-0 hidden h-dvh w-64 shrink-0 overflow-y-auto border-r border-line bg-surface lg:block">
        <AdminSidebar version={status?.ServerVersion} />
      </aside>
      <Dialog
        open={isDrawerOpen}
        onClose={closeDrawer}
        className="relative z-30 lg:hidden"
        aria-label={t('admin.nav.label')}
      >
        {/* The style sheet alone lets it appear, as in components/dialog.tsx. */}
        <DialogBackdrop className="fixed inset-0 bg-veil transition-opacity duration-150 starting:opacity-0" />
        <DialogPanel className="fixed inset-y-0 left-0 w-72 max-w-[85vw] overflow-y-auto border-r border-line bg-surface shadow-high transition duration-200 ease-out starting:-translate-x-full">
          <AdminSidebar version={status?.ServerVersion} onNavigate={closeDrawer} />
        </DialogPanel>
      </Dialog>
      <div className="flex min-w-0 flex-1 flex-col">
        <AdminTopBar onMenu={() => setIsDrawerOpen(true)} />
        <main
          ref={main}
          id="content"
          tabIndex={-1}
          className="mx-auto flex w-full max-w-[90rem] flex-1 flex-col gap-6 px-4 py-6 outline-none sm:px-6 lg:px-8 lg:py-8"
        >
          <AdminBanners />
          {children}
        </main>
      </div>
    </div>
  )
}

/** After a navigation focus goes to the page's heading, as after a page load; not at the start. */
function useFocusOnNavigation(main: { current: HTMLElement | null }, path: string): void {
  const last = useRef(path)
  useEffect(() => {
    const { current } = main
    if (last.current === path || current === null) return undefined
    last.current = path
    let stop: (() => void) | undefined
    // A drawer that closes gives the focus back to its button first.
    const timer = setTimeout(() => {
      stop = focusHeading(current)
    })
    return () => {
      clearTimeout(timer)
      stop?.()
    }
  }, [main, path])
}

/** Until the page's file has been loaded there is no heading: the focus waits above it, and moves on if it is still there. */
function focusHeading(main: HTMLElement): (() => void) | undefined {
  const find = () => main.querySelector('h1')
  const heading = find()
  ;(heading ?? main).focus()
  if (heading) return undefined
  const observer = new MutationObserver(() => {
    const found = find()
    if (found === null) return
    observer.disconnect()
    if (document.activeElement === main) found.focus()
  })
  observer.observe(main, { childList: true, subtree: true })
  return () => observer.disconnect()
}
