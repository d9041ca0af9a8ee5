import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { Theme } from '#server/status/status.schema.ts'
import { unwrap } from '../api.ts'
import { client } from '../client.ts'
import { paintBrowser } from './browser-colour.ts'

/** What holds when the theme can't be read. Portal §8. */
export const fallbackTheme: Theme = {
  Accent: 'grape',
  HighAccessibility: false,
  Logo: null,
  LightModeLogo: null,
}

/** How long a theme is kept, in milliseconds. Portal §9. */
const keptMs = 10 * 60_000

/** Accent, contrast and logo of this installation. */
export const themeQuery = queryOptions({
  queryKey: ['theme'],
  queryFn: ({ signal }): Promise<Theme> => unwrap(client.theme.$get({}, { init: { signal } })),
  // What the server has written into the page holds for the first paint; it is asked for all the same.
  initialData: readPageTheme,
  initialDataUpdatedAt: 0,
  staleTime: keptMs,
  gcTime: keptMs,
})

/** The installation's theme, the fallback until it is known. */
export const useTheme = (): Theme => useQuery(themeQuery).data ?? fallbackTheme

/** Puts the theme on the page. */
export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  dataset['accent'] = isDrawn(theme.Accent) ? theme.Accent : fallbackTheme.Accent
  dataset['contrast'] = theme.HighAccessibility ? 'high' : 'normal'
  paintBrowser()
}

/** Reads the theme and puts it on the page; once more whenever a later answer is another one. */
export async function startTheme(queryClient: QueryClient): Promise<void> {
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== themeQuery.queryKey[0]) return
    const theme = queryClient.getQueryData(themeQuery.queryKey)
    if (theme) applyTheme(theme)
  })
  // Older than any answer, so that the next look asks again.
  await queryClient
    .fetchQuery(themeQuery)
    .catch(() => queryClient.setQueryData(themeQuery.queryKey, fallbackTheme, { updatedAt: 0 }))
}

/** The theme in the attributes of the root element; undefined in a page that no server of ours has written. */
function readPageTheme(): Theme | undefined {
  const { accent, contrast, logo, lightLogo } = document.documentElement.dataset
  if (logo === undefined || lightLogo === undefined) return undefined
  return {
    Accent: isDrawn(accent) ? accent : fallbackTheme.Accent,
    HighAccessibility: contrast === 'high',
    Logo: logo || null,
    LightModeLogo: lightLogo || null,
  }
}

/** Accents that theme.css knows; a newer server may name others. */
const drawn: Record<Theme['Accent'], true> = {
  teal: true,
  grape: true,
  iceberg: true,
  rose: true,
  offsite: true,
}

const isDrawn = (accent: string | undefined): accent is Theme['Accent'] =>
  accent !== undefined && Object.hasOwn(drawn, accent)
