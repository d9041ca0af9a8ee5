import type { Deps } from '../../context.ts'
import type { PasswordSource } from '../identity/identity.ts'

/** Accounts whose password a directory keeps. */
export const ldapSource = (_deps: Pick<Deps, 'db' | 'sealer' | 'log'>): PasswordSource => ({
  prove: async () => ({ isRight: false }),
})
