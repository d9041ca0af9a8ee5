import type { Theme } from '../status/status.schema.ts'

/** What the server knows of a page's first look. */
export type FirstLook = {
  theme: Theme
  /** No cookie of a user's session came with the request: nobody needs to ask for a status. */
  isSignedOut: boolean
  /** Files that the page at this address needs beside those that every page names. */
  preloads: readonly string[]
}

/**
 * A page with what the server knows, so that the first paint waits for no answer: the theme and whether there can be a
 * session as attributes of the root element, the files of the page as preloads.
 */
export function toHtml(page: string, { theme, isSignedOut, preloads }: FirstLook): string {
  const attributes = {
    'data-accent': theme.Accent,
    'data-contrast': theme.HighAccessibility ? 'high' : 'normal',
    'data-logo': theme.Logo ?? '',
    'data-light-logo': theme.LightModeLogo ?? '',
    ...(isSignedOut && { 'data-session': 'none' }),
  }
  const root = Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(value)}"`)
  const links = preloads.map((path) => `<link rel="modulepreload" crossorigin href="${escape(path)}">\n  `)
  return page
    .replace(/<html\b([^>]*)>/, (_, given: string) => `<html${given.replace(standIns, '')}${root.join('')}>`)
    .replace('</head>', () => `${links.join('')}</head>`)
}

/** What stands in the page for whoever serves it as it is. */
const standIns = / data-(accent|contrast)="[^"]*"/g

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
