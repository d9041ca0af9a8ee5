import { z } from 'zod'
import type { Journal } from '../journal.ts'

/** Under this key of the journal the agent keeps what it could not cut lately, by list. */
export const cutFaultsKey = 'cutFaults'

const faultsSchema = z.record(z.string(), z.object({ text: z.string() }).nullable())

/** Lists whose connections could not be ended at the last try, and why. */
export function readCutFaults(journal: Pick<Journal, 'readMeta'>): { list: string; text: string }[] {
  const faults = faultsSchema.safeParse(journal.readMeta(cutFaultsKey)).data ?? {}
  return Object.entries(faults).flatMap(([list, fault]) =>
    fault === null ? [] : [{ list, text: fault.text }],
  )
}
