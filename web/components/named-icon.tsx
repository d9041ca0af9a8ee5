import { createElement, useSyncExternalStore } from 'react'
import type { iconByName } from './icons.ts'

/** The drawing of an icon's stored name; decoration beside a text. Its place is kept until the drawings are there. */
export function NamedIcon({ name, className }: { name: string; className?: string | undefined }) {
  const find = useSyncExternalStore(subscribe, () => drawings)
  return createElement(find?.(name) ?? 'svg', { 'aria-hidden': true, className })
}

/** The drawings come beside the page, not before it: they are a twentieth of what the dashboard loads. */
let drawings: typeof iconByName | undefined
const listeners = new Set<() => void>()

void import('./icons.ts')
  .then((icons) => {
    drawings = icons.iconByName
    for (const listener of listeners) listener()
  })
  // Without them there are empty places.
  .catch(() => null)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
