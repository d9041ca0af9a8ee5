import { createHash, randomBytes, randomUUID } from 'node:crypto'

/** A new session, API or agent token: 256 random bits, 43 characters of base64url. Stored only as {@link hashToken}. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** What the database keeps of a token: SHA-256 in hex. No salt is needed, a token cannot be guessed. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** A new id (UUID version 4). */
export const newId = (): string => randomUUID()
