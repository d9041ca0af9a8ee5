import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { login } from '../admin-api.ts'
import { clearAdminSession } from '../admin-session.ts'
import { readAdmin } from '../sign-in-state.ts'

/**
 * A try to sign in with name and password, or what follows one without them (null: a passkey was accepted). The
 * guards lead on from home to the step that is left; a failed try leaves nothing stored. Portal §2, §4.
 */
export function useAdminSignIn() {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return useMutation({
    mutationFn: async (body: { UserName: string; Password: string } | null) => {
      clearAdminSession()
      if (body) await login(body)
      await readAdmin(client)
    },
    onSuccess: () => navigate('/admin/home', { replace: true }),
  })
}
