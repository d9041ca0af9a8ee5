import { z } from 'zod'

/** POST /api/v1/user_auth: nothing is told, everything stands in the key. */
export const userAuthSchema = z.strictObject({})

/** What it answers. The Token is told only now; it is good until Ends, as Bearer on the calls of a machine. */
export type UserAuthAnswer = { Token: string; Ends: string }
