import { z } from 'zod'
import { instantSchema, requiredText } from '../platform/wire.schema.ts'

/** Where a key may be used from: a range in CIDR notation and what it is. Console §5. */
export const allowedFromSchema = z.strictObject({
  prefix: z.union([z.cidrv4(), z.cidrv6()], 'err.invalidCidr'),
  note: z.string().trim().max(256).default(''),
})

/** Every address of both families: what the console's form starts with. Console §9. */
const everywhere = [
  { prefix: '0.0.0.0/0', note: '' },
  { prefix: '::/0', note: '' },
]

/** A new key, as the creation of an apikey user takes it. */
export const newApiKeySchema = z.strictObject({
  Name: requiredText(256),
  AllowedFrom: z.array(allowedFromSchema).min(1).max(100).default(everywhere),
  /** Null: it doesn't end. */
  ExpiredAfter: instantSchema.nullish(),
})
export type NewApiKeyRequest = z.output<typeof newApiKeySchema>

/** How a new passive list is read: with a key of its own, with one that is there, or without, by the reader's address. */
export const listKeySchema = z.discriminatedUnion('Option', [
  z.strictObject({ Option: z.literal('new'), ...newApiKeySchema.shape }),
  z.strictObject({ Option: z.literal('existing'), ID: z.uuid() }),
  z.strictObject({ Option: z.literal('none') }),
])
export type ListKeyRequest = z.output<typeof listKeySchema>
