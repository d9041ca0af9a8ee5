import { useEffect, useState } from 'react'
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form'
import { toUserName } from '../users/user-name.ts'

/**
 * Lets the UserName of a new account follow its Name until it is edited by hand. Console §4.
 *
 * @returns what to hand to `register('UserName', …)`.
 */
export function useFollowedUserName<Values extends FieldValues & { Name: string; UserName: string }>(
  form: Pick<UseFormReturn<Values>, 'watch' | 'setValue'>,
  isNew: boolean,
) {
  const [isFollowing, setIsFollowing] = useState(isNew)
  const name = form.watch('Name' as Path<Values>) as string
  const { setValue } = form
  useEffect(() => {
    if (isFollowing) setValue('UserName' as Path<Values>, toUserName(name) as PathValue<Values, Path<Values>>)
  }, [name, isFollowing, setValue])
  return { onChange: () => setIsFollowing(false) }
}
