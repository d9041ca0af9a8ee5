import type { QueryClient } from '@tanstack/react-query'
import { logout } from './portal-api.ts'
import { clearSession } from './user-session.ts'

/** Logs out: whatever the server says, this browser forgets. The guards then lead to the login. Portal §4. */
export async function signOut(queryClient: QueryClient): Promise<void> {
  await logout().catch(() => null)
  clearSession(queryClient)
}
