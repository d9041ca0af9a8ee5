import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { logout } from '../admin-api.ts'
import { forgetAdmin, readAdmin } from '../sign-in-state.ts'

/** What the pages of the second step lead to: in, out, or to the login because it took too long. */
export function useAdminStep() {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return {
    goOn: useCallback(async () => {
      await readAdmin(client)
      navigate('/admin/home', { replace: true })
    }, [client, navigate]),
    expire: useCallback(() => {
      forgetAdmin(client)
      navigate('/admin/login?error=err.sessionExpired', { replace: true })
    }, [client, navigate]),
    /** Back to the login logs out, whatever the server says. Portal §2. */
    leave: useCallback(async () => {
      await logout().catch(() => null)
      forgetAdmin(client)
      navigate('/admin/login', { replace: true })
    }, [client, navigate]),
  }
}
