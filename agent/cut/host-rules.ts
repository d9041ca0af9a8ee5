import { performance } from 'node:perf_hooks'
import type { HostRules } from './read-rules.ts'

/** The host's rules as they were read last. */
export type RulesCache = {
  /** Reads them now. */
  fresh: () => Promise<HostRules>
  /**
   * As they were read last, which is a minute ago at most while the agent runs: nobody waits for rules to be read
   * before connections are ended. Not recent is what is older than some seconds: then look again afterwards.
   */
  known: () => Promise<{ rules: HostRules; isRecent: boolean }>
  /** What was seen doesn't fit them: they aren't recent any more. */
  forget: () => void
}

const keptMs = 5_000
/** Reading may take this share of the time at most, however many rules there are. */
const idleFactor = 20

/** Builds it on whatever reads the rules; readings don't overlap. */
export function createRulesCache(read: () => Promise<HostRules>): RulesCache {
  let last: { rules: HostRules; until: number } | undefined
  let reading: Promise<HostRules> | undefined

  const readNow = async (): Promise<HostRules> => {
    const startedAt = performance.now()
    const rules = await read()
    const endedAt = performance.now()
    last = { rules, until: endedAt + Math.max(keptMs, (endedAt - startedAt) * idleFactor) }
    return rules
  }

  const fresh = (): Promise<HostRules> => {
    reading ??= readNow().finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    fresh,
    known: async () =>
      last === undefined
        ? { rules: await fresh(), isRecent: true }
        : { rules: last.rules, isRecent: performance.now() < last.until },
    forget: () => {
      if (last !== undefined) last.until = 0
    },
  }
}
