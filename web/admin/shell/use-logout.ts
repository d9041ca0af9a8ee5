import { useMutation, useQueryClient } from '@tanstack/react-query'
import { logout } from '../admin-api.ts'
import { clearAdminSession } from '../admin-session.ts'

/**
 * Signs the admin out. What this tab knows goes in any case, and the page starts anew at the login: nothing that was
 * read stays in memory. Portal §4.
 */
export function useLogout() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: logout,
    onSettled: () => {
      clearAdminSession()
      client.clear()
      window.location.assign('/admin/login')
    },
  })
}
