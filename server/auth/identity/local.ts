import type { Deps } from '../../context.ts'
import type { PasswordSource } from './identity.ts'

/** Accounts whose password we keep, as an argon2id hash. */
export const localSource = ({ passwords }: Pick<Deps, 'passwords'>): PasswordSource => ({
  prove: async (account, password) => ({
    isRight: await passwords.verifyPassword(account?.passwordHash ?? undefined, password),
  }),
})
