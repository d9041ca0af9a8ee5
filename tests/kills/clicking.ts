import { setTimeout as wait } from 'node:timers/promises'
import type { Person } from '#tests/support/site.ts'
import { ApiFailure } from '../../deploy/demo/api-client.ts'
import type { Random } from './random.ts'

/** Somebody who clicks without end, and remembers what he was told. */
export type Clicker = ReturnType<typeof startClicking>

/**
 * Starts clicking Grant and Revoke at random. `answered` holds for each knoc what the last click came to, as the
 * server answered it; `unknown` when no answer came, since it may or may not have been carried out.
 */
export function startClicking({
  person,
  knocs,
  random,
}: {
  person: Person
  knocs: readonly string[]
  random: Random
}) {
  const answered = new Map<string, 'granted' | 'revoked' | 'unknown'>()
  let isOver = false
  let taken = 0

  async function click(aclId: string): Promise<void> {
    const isGrant = random.below(2) === 0
    try {
      const { ExpiredAfter } = await (isGrant ? person.grant(aclId) : person.revoke(aclId))
      taken += 1
      // A grant is not taken while a close is on its way; its answer has no end then.
      answered.set(aclId, ExpiredAfter === null ? 'revoked' : 'granted')
    } catch (error) {
      // A refusal in the catalogue's words changed nothing; anything else may have come too late to be told.
      if (!(error instanceof ApiFailure) || error.status >= 500) answered.set(aclId, 'unknown')
    }
  }

  const clicking = (async () => {
    while (!isOver) {
      await click(knocs[random.below(knocs.length)] ?? '')
      await wait(random.below(500))
    }
  })()

  return {
    person,
    answered,
    taken: () => taken,
    stop: async () => {
      isOver = true
      await clicking
    },
  }
}
