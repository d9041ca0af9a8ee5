import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Theme } from '#server/status/status.schema.ts'
import { unwrap } from '../api.ts'
import { client } from '../client.ts'

/** What holds when the theme can't be read. Portal §8. */
export const fallbackTheme: Theme = {
  Accent: 'grape',
  HighAccessibility: false,
  Logo: null,
  LightModeLogo: null,
}

/** Accent, contrast and logo of this installation; kept 10 minutes. */
export const themeQuery = queryOptions({
  queryKey: ['theme'],
  queryFn: ({ signal }): Promise<Theme> => unwrap(client.theme.$get({}, { init: { signal } })),
  staleTime: 10 * 60_000,
})

/** The installation's theme, the fallback until it is known. */
export const useTheme = (): Theme => useQuery(themeQuery).data ?? fallbackTheme

/** Puts the theme on the page. */
export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  dataset['accent'] = theme.Accent in drawn ? theme.Accent : fallbackTheme.Accent
  dataset['contrast'] = theme.HighAccessibility ? 'high' : 'normal'
}

/** Accents that theme.css knows; a newer server may name others. */
const drawn: Record<Theme['Accent'], true> = {
  teal: true,
  grape: true,
  iceberg: true,
  rose: true,
  offsite: true,
}
