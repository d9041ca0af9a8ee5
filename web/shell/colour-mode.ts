import { useSyncExternalStore } from 'react'
import { paintBrowser } from './browser-colour.ts'
import { browserStorage } from './browser-storage.ts'

/** In the order of the cycle. */
export const colourModes = ['light', 'dark', 'auto'] as const
export type ColourMode = (typeof colourModes)[number]

const listeners = new Set<() => void>()
let mode: ColourMode | undefined

/** The chosen mode and the step to the next: light, dark, auto. */
export function useColourMode(): { mode: ColourMode; cycle: () => void } {
  return { mode: useSyncExternalStore(subscribe, colourMode), cycle }
}

/** Whether the page is dark now, for what has a drawing of its own for each. */
export const useIsDark = (): boolean =>
  useSyncExternalStore(subscribe, () => document.documentElement.dataset['mode'] === 'dark')

/** Follows the system's colours while the mode is auto. Called once, at the start. */
export function followColourMode(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply)
  apply()
}

function colourMode(): ColourMode {
  const stored = browserStorage.readLocal('colourMode')
  mode ??= colourModes.find((known) => known === stored) ?? 'auto'
  return mode
}

function cycle(): void {
  const next = colourModes[(colourModes.indexOf(colourMode()) + 1) % colourModes.length] ?? 'auto'
  mode = next
  browserStorage.writeLocal('colourMode', next)
  apply()
}

/** The same rule as public/colour-mode.js, which runs before the first paint. */
function apply(): void {
  const chosen = colourMode()
  const isDark =
    chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset['mode'] = isDark ? 'dark' : 'light'
  paintBrowser()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
