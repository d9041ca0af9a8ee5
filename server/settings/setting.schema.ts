import { z } from 'zod'
import { accents } from '../status/status.schema.ts'

/** Minutes that a session on a public computer lasts at most. Console §5, §9. */
export const kioskMinutes = { min: 5, max: 120, initial: 30 } as const

/** Every setting that is read so far, with its default. Names are the wire's. Console §3 "Settings". */
export const settingsSchema = z.object({
  Accent: z.enum(accents).catch('grape'),
  HighAccessibility: z.boolean().catch(false),
  NewUserDashboard: z.boolean().catch(true),
  KioskSessionDuration: z
    .number()
    .int()
    .min(kioskMinutes.min)
    .max(kioskMinutes.max)
    .catch(kioskMinutes.initial),
  DiscoverIP: z.boolean().catch(false),
  /** A foreign lookup service; '' means our own listeners. */
  DiscoverIPURL: z.string().catch(''),
  TrustDiscoveryClaims: z.boolean().catch(false),
})
export type Settings = z.output<typeof settingsSchema>

const wrongKiosk = 'err.kioskSessionDurationInvalid'

/** POST /api/admin/settings/config. */
export const configChangeSchema = z.strictObject({
  KioskSessionDuration: z
    .number()
    .multipleOf(1, wrongKiosk)
    .min(kioskMinutes.min, wrongKiosk)
    .max(kioskMinutes.max, wrongKiosk),
})
export type ConfigChange = z.output<typeof configChangeSchema>
