import { z } from 'zod'

/** Pieces of the wire that every feature uses. Names and case are the specification's. */

/** Path parameter of a thing with an id. */
export const idParamSchema = z.object({ id: z.uuid() })

/** An instant on the wire: ISO 8601 in UTC. */
export const instantSchema = z.iso.datetime({ offset: true })

/** Paging, search and order of a list; without `limit` the whole list is answered. */
export const listQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(500).optional(),
  offset: z.coerce.number().int().min(0).max(10_000_000).optional(),
  search: z.string().max(200).optional(),
  sort: z
    .string()
    .regex(/^-?[A-Za-z]{1,64}$/)
    .optional(),
})
export type ListQuery = z.output<typeof listQuerySchema>

/** What a creation answers. */
export type Created = { ID: string }

/** Trimmed text with a length; the empty text counts as missing. */
export const requiredText = (max: number) => z.string().trim().min(1).max(max)

/** Optional text: '' clears it. */
export const optionalText = (max: number) => z.string().trim().max(max).nullish()
