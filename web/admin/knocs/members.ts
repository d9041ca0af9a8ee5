import type { UserRow } from '#server/users/user.schema.ts'
import { nameOrder } from '../../i18n/in-locale.ts'

/** A user as pickers and the review show it. */
export type KnownUser = Pick<UserRow, 'ID' | 'Name' | 'Company' | 'UserName'>

/** Who gets a knoc, and what is known of the users among them: lists come by page, so not everybody is. */
export type Members = {
  userIds: readonly string[]
  groupIds: readonly string[]
  known: Readonly<Record<string, KnownUser>>
}

/** The same with these users known. */
export const withKnown = (members: Members, users: readonly KnownUser[]): Members => ({
  ...members,
  known: { ...members.known, ...Object.fromEntries(users.map((user) => [user.ID, user])) },
})

/** Chosen users that are known, by name as the language orders them. */
export const chosenUsers = ({ userIds, known }: Members, locale: string): KnownUser[] => {
  const byName = nameOrder(locale)
  return userIds
    .map((id) => known[id])
    .filter((user) => user !== undefined)
    .toSorted((one, other) => byName(one.Name, other.Name))
}

/** Groups in the kinds that the review shows apart. */
export const chosenGroups = <Group extends { ID: string; Type: string }>(
  { groupIds }: Members,
  groups: readonly Group[],
): { saml: Group[]; local: Group[] } => {
  const chosen = groups.filter(({ ID }) => groupIds.includes(ID))
  return {
    saml: chosen.filter(({ Type }) => Type === 'saml'),
    local: chosen.filter(({ Type }) => Type !== 'saml'),
  }
}
