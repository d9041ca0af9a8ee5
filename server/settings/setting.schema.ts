import { z } from 'zod'
import { accents } from '../status/status.schema.ts'

/** Every setting that is read so far, with its default. Names are the wire's. Console §3 "Settings". */
export const settingsSchema = z.object({
  Accent: z.enum(accents).catch('grape'),
  HighAccessibility: z.boolean().catch(false),
  NewUserDashboard: z.boolean().catch(true),
  /** Minutes a session on a public computer lasts at most. */
  KioskSessionDuration: z.number().int().min(5).max(120).catch(30),
})
export type Settings = z.output<typeof settingsSchema>
