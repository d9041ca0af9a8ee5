import { z } from 'zod'

/** POST /api/admin/settings/license. */
export const licenceSchema = z.strictObject({ License: z.string().trim().min(1).max(8192) })

/**
 * What a licence key says, signed: `base64url(JSON).base64url(Ed25519 signature over the first part)`.
 * Checked offline against KNOC_LICENCE_PUBLIC_KEY.
 */
export const licencePayloadSchema = z.strictObject({
  v: z.literal(1),
  id: z.uuid(),
  users: z.number().int().min(1).max(10_000_000),
  sessions: z.number().int().min(1).max(10_000).nullable(),
  overagePercentage: z.number().int().min(0).max(50).default(50),
  machines: z.number().int().min(1).max(1000).nullable().default(null),
  /** ISO instant. */
  expires: z.iso.datetime(),
  issuedTo: z.string().max(256).default(''),
})
export type LicencePayload = z.output<typeof licencePayloadSchema>

/** GET /api/admin/settings/license. */
export type LicenceStatus = {
  Licensed: boolean
  ID: string | null
  UserLimit: number | null
  SessionLimit: number | null
  MaxMachines: number | null
  MachineCount: number
  Expires: string | null
}
