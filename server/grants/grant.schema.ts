import { z } from 'zod'

/** What discovery found: the address that was seen, and on which port; 0 is the session's own address. */
const addressesSchema = z
  .array(z.strictObject({ Port: z.number().int().min(0).max(65_535), IP: z.union([z.ipv4(), z.ipv6()]) }))
  .max(8)

/**
 * POST /api/grant. An address named with Port 0 must be one of the session's own as the server saw it, one with a
 * lookup port one that this port saw (decision 8).
 */
export const grantSchema = z.strictObject({
  ACLID: z.uuid(),
  IPs: addressesSchema.default([]),
})
export type GrantRequest = z.output<typeof grantSchema>

/** POST /api/log_ips: addresses for every knoc with CGNATOpen, and own addresses of a family (Port 0). */
export const logIpsSchema = z.strictObject({ IPs: addressesSchema })

/** What a grant and a revoke answer: the entry's number as it stands now. */
export type GrantAnswer = { ACLID: string; Status: number; ExpiredAfter: string | null }

/** A live event: something of this session changed, read the status again. No data beyond ids (decision 40). */
export type PortalEvent = { type: 'status'; aclIds: string[] } | { type: 'ended' }
