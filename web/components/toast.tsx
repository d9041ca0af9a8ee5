import { CircleAlert, CircleCheck, Info, X } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { IconButton } from './icon-button.tsx'

type Toast = { id: number; tone: 'neutral' | 'ok' | 'danger'; text: string }

/** How long a message stays, in milliseconds; errors stay until dismissed. */
const stayMs = 6_000

const ToastContext = createContext<(toast: Omit<Toast, 'id'>) => void>(() => {
  throw new Error('no ToastProvider above')
})

/** Shows a short message: `say({tone: 'ok', text})`. Spoken by screen readers. */
export const useToast = () => useContext(ToastContext)

/** Holds the messages of everything below it. One per page. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([])
  const lastId = useRef(0)
  const say = useCallback((toast: Omit<Toast, 'id'>) => {
    lastId.current += 1
    const id = lastId.current
    setToasts((shown) => [...shown.slice(-2), { ...toast, id }])
  }, [])
  const dismiss = useCallback(
    (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)),
    [],
  )
  return (
    <ToastContext value={say}>
      {children}
      {/* Beside the page: what a dialog covers is inert, and would not be spoken. */}
      {createPortal(
        <div
          role="log"
          aria-live="polite"
          className="pointer-events-none fixed inset-x-0 z-50 flex flex-col items-center gap-2 p-4 max-sm:top-0 sm:bottom-0"
        >
          {toasts.map((toast) => (
            <ToastLine key={toast.id} toast={toast} onDismiss={dismiss} />
          ))}
        </div>,
        document.body,
      )}
    </ToastContext>
  )
}

const icons = { neutral: Info, ok: CircleCheck, danger: CircleAlert }
const tones = { neutral: 'text-muted', ok: 'text-ok', danger: 'text-danger' }

function ToastLine({ toast, onDismiss }: { toast: Toast; onDismiss: (id: number) => void }) {
  const { t } = useTranslation()
  const Icon = icons[toast.tone]
  useEffect(() => {
    if (toast.tone === 'danger') return undefined
    const timer = setTimeout(() => onDismiss(toast.id), stayMs)
    return () => clearTimeout(timer)
  }, [toast, onDismiss])
  return (
    <div className="pointer-events-auto flex max-w-lg items-center gap-3 rounded-2xl border border-line bg-surface py-2 pr-2 pl-4 text-[0.9375rem] text-ink shadow-high">
      <Icon aria-hidden="true" className={cx('size-5 shrink-0', tones[toast.tone])} />
      <span className="min-w-0 flex-1">{toast.text}</span>
      <IconButton icon={X} label={t('kit.dismiss')} onClick={() => onDismiss(toast.id)} className="size-8" />
    </div>
  )
}
