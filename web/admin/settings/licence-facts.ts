import { dayMs } from '#machines/licence.ts'
import type { LicenceStatus } from '#server/licence/licence.schema.ts'
import type { AdminStatus } from '#server/status/status.schema.ts'

/** A licence in numbers, for its summary and its dialog. */
export type LicenceFacts = {
  users: number
  userLimit: number | null
  isOverLimit: boolean
  /** Whole days until it ends, 0 when past; null: it doesn't end. */
  days: number | null
  machines: number
  maxMachines: number | null
}

/** What the licence permits beside what is used; `now` by the server's clock, in milliseconds. */
export const licenceFacts = (
  licence: LicenceStatus,
  status: Pick<AdminStatus, 'UserCount'>,
  now: number,
): LicenceFacts => ({
  users: status.UserCount,
  userLimit: licence.UserLimit,
  isOverLimit: licence.UserLimit !== null && status.UserCount > licence.UserLimit,
  days:
    licence.Expires === null ? null : Math.max(0, Math.floor((Date.parse(licence.Expires) - now) / dayMs)),
  machines: licence.MachineCount,
  maxMachines: licence.MaxMachines,
})
