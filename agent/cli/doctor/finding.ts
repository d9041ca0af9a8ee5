/** One thing looked at: how it is, and what to do when it is not right, or could be better. */
export type Finding = { ok: boolean; text: string; remedy?: string }
