import { z } from 'zod'

const instant = z.iso.datetime({ offset: true })

/** One entry of GET /api/status, as far as the client reads it. */
const statusEntrySchema = z.object({
  ACLID: z.string(),
  Description: z.string(),
  URL: z.string().default(''),
  Status: z.number().int(),
  ExpiredAfter: instant.nullable(),
  ClickToGrant: z.boolean(),
  DisableForUser: z.boolean(),
  VerifiedAt: instant.nullable().default(null),
})
export type StatusEntry = z.output<typeof statusEntrySchema>

/** GET /api/status, as far as the client reads it; a newer server may say more. */
export const clientStatusSchema = z.object({
  UserName: z.string(),
  CurrentAddress: z.string(),
  Ends: instant,
  Now: instant,
  Licensed: z.boolean(),
  UserLicensed: z.boolean(),
  ACLs: z.array(statusEntrySchema),
})
export type ClientStatus = z.output<typeof clientStatusSchema>

/** POST /api/v1/user_auth. */
export const userAuthAnswerSchema = z.object({ Token: z.string().min(20).max(200), Ends: instant })
