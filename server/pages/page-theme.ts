import type { Deps } from '../context.ts'
import { withinMilliseconds } from '../platform/within.ts'
import type { Theme } from '../status/status.schema.ts'
import { readTheme } from '../status/theme.query.ts'

/** How long pages are served with the theme that was read, in milliseconds; /api/theme says it anew. */
const keptMs = 3_000
/** A page waits no longer for its colours, in milliseconds. */
const patienceMs = 300

/** What holds while the settings can't be read. Portal §8. */
const fallback: Theme = { Accent: 'grape', HighAccessibility: false, Logo: null, LightModeLogo: null }

/** The theme for the first paint: read once for all pages of a few seconds, never an error. */
export function createPageTheme(deps: Pick<Deps, 'db' | 'clock'>): () => Promise<Theme> {
  let kept: { until: number; theme: Promise<Theme> } | undefined
  return () => {
    const now = deps.clock.now().getTime()
    if (kept === undefined || kept.until <= now)
      kept = {
        until: now + keptMs,
        theme: withinMilliseconds(readTheme(deps.db.lists), patienceMs).catch(() => fallback),
      }
    return kept.theme
  }
}
