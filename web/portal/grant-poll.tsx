import { useQueryClient } from '@tanstack/react-query'
import { useActorRef } from '@xstate/react'
import { useEffect, useMemo } from 'react'
import { fromPromise } from 'xstate'
import { grantPollMachine } from '#machines/grant-poll.machine.ts'
import { refreshSession } from './user-session.ts'

/** An entry that isn't in the status any more has nothing to wait for: waiting to be granted. */
const goneStatus = 4

/** Runs the poll after a click on one entry, for as long as it is there. Draws nothing. */
export function GrantPoll({
  aclId,
  onSettled,
}: {
  aclId: string /** With the last status read; null when none could be. */
  onSettled: (aclId: string, status: number | null) => void
}) {
  const queryClient = useQueryClient()
  const machine = useMemo(
    () =>
      grantPollMachine.provide({
        actors: {
          fetchStatus: fromPromise(async ({ input }) => {
            const session = await refreshSession(queryClient)
            return session?.status.ACLs.find((acl) => acl.ACLID === input.aclId)?.Status ?? goneStatus
          }),
        },
      }),
    [queryClient],
  )
  const actor = useActorRef(machine, { input: { aclId } })
  useEffect(() => {
    const subscription = actor.subscribe({
      complete: () => onSettled(aclId, actor.getSnapshot().output?.status ?? null),
    })
    return () => subscription.unsubscribe()
  }, [actor, aclId, onSettled])
  return null
}
