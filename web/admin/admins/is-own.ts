import { useQuery } from '@tanstack/react-query'
import { queries } from '../admin-queries.ts'

/** Whether an account is that of whoever is signed in; user names of a realm differ without regard to case. */
export function useIsOwn(): (admin: { UserName: string }) => boolean {
  const own = useQuery(queries.status).data?.UserName.toLowerCase()
  return ({ UserName }) => UserName.toLowerCase() === own
}
