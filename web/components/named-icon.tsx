import { createElement, startTransition, useEffect, useState } from 'react'
import { whenIdle } from '../shell/when-idle.ts'
import type { iconByName } from './icons.ts'

/** The drawing of an icon's stored name; decoration beside a text. Its place is kept until the drawings are there. */
export function NamedIcon({ name, className }: { name: string; className?: string | undefined }) {
  const [find, setFind] = useState(() => drawings)
  useEffect(
    // 200 icons are drawn a few at a time: nothing waits for them.
    () => onceDrawn((drawn) => startTransition(() => setFind(() => drawn))),
    [],
  )
  return createElement(find?.(name) ?? 'svg', { 'aria-hidden': true, className })
}

type Drawings = typeof iconByName

/** The drawings come after the page, not before it: they are a twentieth of what the dashboard loads. */
let drawings: Drawings | undefined
let isAsked = false
const listeners = new Set<(drawn: Drawings) => void>()

function onceDrawn(listener: (drawn: Drawings) => void): () => void {
  if (drawings) listener(drawings)
  else listeners.add(listener)
  if (!isAsked) void load()
  return () => listeners.delete(listener)
}

async function load(): Promise<void> {
  isAsked = true
  try {
    await new Promise<void>(whenIdle)
    const drawn = (await import('./icons.ts')).iconByName
    drawings = drawn
    for (const listener of listeners) listener(drawn)
    listeners.clear()
  } catch {
    // Without them there are empty places.
  }
}
