import { createElement, useSyncExternalStore } from 'react'
import type { iconByName } from './icons.ts'

/** The drawing of an icon's stored name; decoration beside a text. Its place is kept until the drawings are there. */
export function NamedIcon({ name, className }: { name: string; className?: string | undefined }) {
  const find = useSyncExternalStore(subscribe, () => drawings)
  return createElement(find?.(name) ?? 'svg', { 'aria-hidden': true, className })
}

/** The drawings come after the page, not before it: they are a twentieth of what the dashboard loads. */
let drawings: typeof iconByName | undefined
let isAsked = false
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (!isAsked) void load()
  return () => listeners.delete(listener)
}

async function load(): Promise<void> {
  isAsked = true
  try {
    drawings = (await import('./icons.ts')).iconByName
    for (const listener of listeners) listener()
  } catch {
    // Without them there are empty places.
  }
}
