import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'

/** How long the pointer rests before the text appears, in milliseconds. Portal §9. */
const delayMs = 200
/** Room kept to the window's edge, and to what the text belongs to. */
const edge = 8

type Props = {
  text: string
  /** The text is already the control's own label: show it, don't speak it twice. */
  labels?: boolean | undefined
  children: ReactNode
  className?: string | undefined
}

/** A short text at a control, after 200 ms of rest or at once on keyboard focus. Escape hides it. */
export function Tooltip({ text, labels, children, className }: Props) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  /** The control's wrapper while the text shows. */
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const hide = useCallback(() => {
    clearTimeout(timer.current)
    setAnchor(null)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    if (anchor === null) return undefined
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && hide()
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [anchor, hide])

  return (
    <span
      className={className ?? 'inline-flex'}
      onPointerEnter={({ pointerType, currentTarget }) => {
        if (pointerType === 'touch') return
        timer.current = setTimeout(() => setAnchor(currentTarget), delayMs)
      }}
      onPointerLeave={hide}
      onPointerDown={hide}
      onFocus={({ target, currentTarget }) => target.matches(':focus-visible') && setAnchor(currentTarget)}
      onBlur={hide}
    >
      {children}
      {labels ? null : <span className="sr-only">{text}</span>}
      {anchor ? createPortal(<Bubble text={text} anchor={anchor} />, document.body) : null}
    </span>
  )
}

function Bubble({ text, anchor }: { text: string; anchor: HTMLElement }) {
  const place = (bubble: HTMLDivElement | null) => {
    if (bubble === null) return
    const around = anchor.getBoundingClientRect()
    const { width, height } = bubble.getBoundingClientRect()
    const left = around.left + around.width / 2 - width / 2
    const below = around.bottom + edge
    bubble.style.left = `${Math.max(edge, Math.min(left, document.documentElement.clientWidth - width - edge))}px`
    bubble.style.top = `${below + height > innerHeight ? around.top - height - edge : below}px`
  }
  return (
    <div
      ref={place}
      aria-hidden="true"
      className="pointer-events-none fixed z-50 max-w-64 rounded-lg bg-ink px-2.5 py-1.5 text-xs font-medium text-page shadow-mid"
    >
      {text}
    </div>
  )
}
