import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { isSetName } from './drivers/ipset-set.ts'

/** One set as it is to be made, empty, at boot and when it went missing. */
export const managedSetSchema = z.object({
  name: z.string().refine(isSetName, 'is no name of a set'),
  type: z.enum(['hash:ip', 'hash:net']),
  options: z.array(z.string().regex(/^[a-z0-9]{1,16}$/)).max(20),
})
export type ManagedSet = z.infer<typeof managedSetSchema>

/** The sets this host makes by itself: those the agent has found fit once, and those its own file names. */
export type ManagedSets = {
  find: (name: string) => ManagedSet | undefined
  all: () => ManagedSet[]
  /** Keeps how a set was made, so that it can be made again. Best effort: a full disk doesn't stop an order. */
  remember: (set: { name: string; type: string; options: readonly string[] }) => void
  forget: (name: string) => boolean
}

/**
 * The file `sets.json` of the data folder, which `knoc-sets.service` reads before any ruleset is loaded: a ruleset
 * that names a missing set is refused as a whole and leaves the host open (decision 13).
 */
export function openManagedSets(path: string, own: readonly ManagedSet[]): ManagedSets {
  const sets = new Map([...readSetsFile(path), ...own].map((set) => [set.name, set]))
  let isSaved = own.length === 0
  const save = () => {
    isSaved = false
    const draft = `${path}.new`
    writeFileSync(draft, `${JSON.stringify([...sets.values()], null, 2)}\n`, { mode: 0o600, flush: true })
    renameSync(draft, path)
    isSaved = true
  }
  return {
    find: (name) => sets.get(name),
    all: () => [...sets.values()],
    remember: (seen) => {
      const parsed = managedSetSchema.safeParse({ ...seen, options: [...seen.options] })
      if (!parsed.success) return
      const { name, type, options } = parsed.data
      if (isSaved && JSON.stringify(sets.get(name)) === JSON.stringify({ name, type, options })) return
      sets.set(name, { name, type, options })
      try {
        save()
      } catch {
        // Written with the next look that finds the set fit.
      }
    },
    forget: (name) => {
      if (!sets.delete(name)) return false
      save()
      return true
    },
  }
}

/** The sets of the file; none when it isn't there or can't be read. Lines that don't fit are left out. */
export function readSetsFile(path: string): ManagedSet[] {
  try {
    const lines = z.array(z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')))
    return lines.flatMap((line) => managedSetSchema.safeParse(line).data ?? [])
  } catch {
    return []
  }
}
