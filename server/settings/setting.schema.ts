import { z } from 'zod'
import { accents } from '../status/status.schema.ts'
import { type LogoName, logoSchema } from './logo.schema.ts'

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

/** GET /api/admin/settings; logos as addresses, '' where there is none. */
export type SettingsAnswer = Settings & Record<LogoName, string>

const wrongKiosk = 'err.kioskSessionDurationInvalid'

/** POST /api/admin/settings/config; absent fields stay, '' removes the address. Console §5, §7. */
export const configChangeSchema = z.strictObject({
  DiscoverIP: z.boolean().optional(),
  DiscoverIPURL: z
    .string()
    .trim()
    .max(2048)
    .refine((url) => url === '' || isWeb(url), 'err.urlScheme')
    .refine((url) => !isWeb(url) || isPlain(url), 'err.invalidField')
    .optional(),
  TrustDiscoveryClaims: z.boolean().optional(),
  KioskSessionDuration: z
    .number()
    .multipleOf(1, wrongKiosk)
    .min(kioskMinutes.min, wrongKiosk)
    .max(kioskMinutes.max, wrongKiosk)
    .optional(),
})
export type ConfigChange = z.output<typeof configChangeSchema>

/** POST /api/admin/settings/customize; absent fields stay. Console §7. */
export const customizeChangeSchema = z.strictObject({
  Accent: z.enum(accents).optional(),
  HighAccessibility: z.boolean().optional(),
  Logo: logoSchema.optional(),
  LightModeLogo: logoSchema.optional(),
  NewUserDashboard: z.boolean().optional(),
})
export type CustomizeChange = z.output<typeof customizeChangeSchema>

const isWeb = (url: string): boolean =>
  URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)

/** Browsers are sent there: no credentials, and nothing that never reaches a server. */
function isPlain(url: string): boolean {
  const { username, password } = new URL(url)
  return username === '' && password === '' && !url.includes('#')
}
