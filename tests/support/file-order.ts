import { BaseSequencer, type TestSpecification } from 'vitest/node'

const storm = /\/tests\/chaos\/storm\.test\.ts$/
const inBrowser = /\/tests\/browser\//
const onHosts = /\/(agent|tests\/(e2e|access|api))\//

/**
 * The order of the files: those with a browser keep the processors busy, those with hosts and agents mostly wait, so
 * they run beside each other. What needs neither comes after them, and the storm, which judges by the clock, last.
 */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const largestFirst = await super.sort(files)
    const last = largestFirst.filter(({ moduleId }) => storm.test(moduleId))
    const busy = largestFirst.filter(({ moduleId }) => inBrowser.test(moduleId))
    const waiting = largestFirst.filter(({ moduleId }) => onHosts.test(moduleId))
    const placed = new Set([...last, ...busy, ...waiting])
    return [...mix(busy, waiting), ...largestFirst.filter((file) => !placed.has(file)), ...last]
  }
}

/** Each list in its order, spread evenly over the whole. */
function mix<Item>(...lists: readonly (readonly Item[])[]): Item[] {
  return lists
    .flatMap((list) => list.map((item, index) => ({ item, at: (index + 0.5) / list.length })))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
