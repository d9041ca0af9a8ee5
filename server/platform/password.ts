import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { createTurns } from './turns.ts'

/** What one password costs whoever computes it. */
export type PasswordCost = { memoryCost: number; timeCost: number; parallelism: number }

/**
 * argon2id with 64 MiB and three passes: RFC 9106 §4, the second recommendation, in one lane, because lanes only help
 * who has cores to spare and here each works for somebody else. argon2id is the library's default. Within the bounds
 * of decision 33; one a core at a time.
 */
const usualCost: PasswordCost = { memoryCost: 65_536, timeCost: 3, parallelism: 1 }

/** Makes and checks password hashes, never more at once than there are cores (decision 33). */
export interface PasswordHasher {
  /** The hash to store, in PHC form. */
  hashPassword: (plain: string) => Promise<string>
  /** Whether the password is right. Without a hash it takes as long and answers false: nobody learns which names exist. */
  verifyPassword: (hash: string | undefined, plain: string) => Promise<boolean>
}

/**
 * Builds the hasher of this process. One computation per core, 200 may wait, and whoever comes then is told
 * err.serviceUnavailable with Retry-After: a storm of sign-ins must not take the memory or the processor
 * that revokes need.
 */
export function createPasswordHasher(
  cores: number = availableParallelism(),
  cost: PasswordCost = usualCost,
): PasswordHasher {
  const inTurn = createTurns(cores)
  let absent: Promise<string> | undefined

  async function verifyPassword(stored: string | undefined, plain: string): Promise<boolean> {
    absent ??= hash(randomBytes(32), cost)
    const against = stored ?? (await absent)
    const isRight = await inTurn(() => verify(against, normalise(plain)))
    return isRight && stored !== undefined
  }

  return {
    verifyPassword,
    hashPassword: (plain) => inTurn(() => hash(normalise(plain), cost)),
  }
}

/** One password, however a keyboard composes its accents (NIST SP 800-63B asks for it). */
function normalise(plain: string): string {
  return plain.normalize('NFKC')
}
