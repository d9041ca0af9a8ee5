import { dirname, join } from 'node:path'
import type { Rolldown } from 'vite'

type Modules = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>

/** Whether a page can't run without the module that is looked at. */
type NeededBy = (page: string) => boolean

const file = (path: string) => new URL(path, import.meta.url).pathname
const portal = file('portal/main.tsx')
const admin = file('admin/main.tsx')
const login = file('portal/login-page.tsx')
const dashboards = [file('portal/home-page.tsx'), file('portal/classic-page.tsx')]

/**
 * Few files for the first paint, because each costs a slow line a way there and back; the first group that takes a
 * module keeps it. What none takes is split as it is loaded.
 *
 * Whoever loads a file runs all of it: what the console may load stands in no file with what is the portal's alone.
 */
const groups: Readonly<Record<string, (module: { neededBy: NeededBy; isConsoles: boolean }) => boolean>> = {
  // What portal and console both begin with.
  start: ({ neededBy }) => neededBy(portal) && neededBy(admin),
  'portal-start': ({ neededBy, isConsoles }) =>
    neededBy(portal) || (!isConsoles && neededBy(login) && dashboards.some(neededBy)),
  // What the portal's pages are drawn with, and the console's.
  kit: ({ neededBy, isConsoles }) => isConsoles && [login, ...dashboards].some(neededBy),
  dashboard: ({ neededBy }) => dashboards.every(neededBy),
}

/** Rolldown's `codeSplitting.groups`. */
export const chunkGroups: Rolldown.CodeSplittingGroup[] = Object.entries(groups).map(
  ([name, takes], index, all) => ({
    name: (id, modules) => {
      // Vite names the files of a page by what it begins with, which therefore stays in a file of its own.
      if (id === portal || id === admin) return null
      const neededBy: NeededBy = (page) => needsOf(page, modules).has(id)
      const isConsoles = needsOf(admin, modules, { isLater: true }).has(id)
      return takes({ neededBy, isConsoles }) ? name : null
    },
    priority: all.length - index,
    debugName: name,
  }),
)

const known = { now: new WeakMap<object, Set<string>>(), later: new WeakMap<object, Set<string>>() }

/** What a module can't run without, itself included; with `isLater` also what it may load later. */
function needsOf(page: string, modules: Modules, { isLater = false } = {}): ReadonlySet<string> {
  const start = modules.getModuleInfo(page)
  if (start === null) throw new Error(`the build has no ${page}`)
  const answers = isLater ? known.later : known.now
  const before = answers.get(start)
  if (before) return before
  const needs = new Set([page])
  // What is added while it is walked is walked as well.
  for (const id of needs) {
    const info = modules.getModuleInfo(id)
    if (info === null) continue
    for (const next of isLater ? [...info.importedIds, ...info.dynamicallyImportedIds] : info.importedIds)
      if (!isIconIndex(next)) needs.add(next)
      else for (const icon of iconsOf(info, modules.getModuleInfo(next))) needs.add(icon)
  }
  answers.set(start, needs)
  return needs
}

const isIconIndex = (id: string) => /\/lucide-react\/dist\/esm\/lucide-react\.m?js$/.test(id)

/** Of two thousand icons behind one import, those that a module names. */
function iconsOf({ code }: Rolldown.ModuleInfo, index: Rolldown.ModuleInfo | null): string[] {
  const named = /import\s*\{([^}]*)\}\s*from\s*["']lucide-react["']/.exec(code ?? '')?.[1] ?? ''
  return named.split(',').flatMap((part) => {
    const name = part.trim().split(/\s/)[0] ?? ''
    const line = new RegExp(`\\bas ${name}\\b[^}]*\\}\\s*from\\s*["'](\\./icons/[\\w.-]+)["']`)
    const path = name === '' ? undefined : line.exec(index?.code ?? '')?.[1]
    return path === undefined || index === null ? [] : join(dirname(index.id), path)
  })
}
