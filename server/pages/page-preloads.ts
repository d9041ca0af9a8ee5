/** Vite's list of what it built: files by their source, with what they import. */
type Manifest = Readonly<Record<string, { file: string; imports?: readonly string[] }>>

/** What addresses begin with, and the page of the portal that they show most likely; web/portal/portal-routes.ts. */
export const firstPages: readonly (readonly [prefix: string, source: string])[] = [
  ['/home/new', 'portal/home-page.tsx'],
  ['/home', 'portal/classic-page.tsx'],
  ['/otp/verify', 'portal/verify-page.tsx'],
  ['/otp/onboard', 'portal/onboard-page.tsx'],
  ['/', 'portal/login-page.tsx'],
]

/** Finds the files of an address's page that index.html doesn't name itself. Without a manifest there are none. */
export function createPreloads(manifest: Manifest): (path: string) => readonly string[] {
  const named = filesOf(manifest, 'index.html')
  const files = firstPages.map(([prefix, source]) => ({
    prefix,
    files: [...filesOf(manifest, source)].filter((file) => !named.has(file)).map((file) => `/${file}`),
  }))
  return (path) => files.find(({ prefix }) => path.startsWith(prefix))?.files ?? []
}

function filesOf(manifest: Manifest, source: string): Set<string> {
  const names = new Set([source])
  // What is added while it is walked is walked as well.
  for (const name of names) for (const imported of manifest[name]?.imports ?? []) names.add(imported)
  return new Set([...names].flatMap((name) => manifest[name]?.file ?? []))
}
