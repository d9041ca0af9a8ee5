import { randomUUID } from 'node:crypto'
import type { Insertable } from 'kysely'
import type { DB } from '#server/platform/database.types.ts'
import type { Browser, PeopleApi } from './people-api.ts'

/** Password of everybody in these tests. */
export const rightPassword = 'correct horse 1'

let hashed: Promise<string> | undefined
const passwordHash = ({ deps }: PeopleApi) => (hashed ??= deps.passwords.hashPassword(rightPassword))

/** A local user with a name of its own. */
export async function aUser(
  api: PeopleApi,
  columns: Partial<Insertable<DB['users']>> = {},
): Promise<{ id: string; userName: string }> {
  return api.db
    .insertInto('users')
    .values({
      name: 'Ada Lovelace',
      userName: `ada.${randomUUID().slice(0, 8)}`,
      authType: 'local',
      passwordHash: await passwordHash(api),
      ...columns,
    })
    .returning(['id', 'userName'])
    .executeTakeFirstOrThrow()
}

/** A local administrator with a name of its own. */
export async function anAdmin(
  api: PeopleApi,
  columns: Partial<Insertable<DB['admins']>> = {},
): Promise<{ id: string; userName: string }> {
  return api.db
    .insertInto('admins')
    .values({
      name: 'Root',
      userName: `root.${randomUUID().slice(0, 8)}`,
      authType: 'local',
      passwordHash: await passwordHash(api),
      ...columns,
    })
    .returning(['id', 'userName'])
    .executeTakeFirstOrThrow()
}

/** A browser in which a user is signed in. */
export async function signedIn(api: PeopleApi, user: { userName: string }, peer?: string): Promise<Browser> {
  const browser = api.browser(peer)
  const { status } = await browser.post('/login', { UserName: user.userName, Password: rightPassword })
  if (status !== 200) throw new Error(`${user.userName} was not signed in: ${status}`)
  return browser
}

/** A browser in which an administrator is signed in. */
export async function signedInAdmin(
  api: PeopleApi,
  admin?: { userName: string },
): Promise<Browser & { name: string }> {
  const { userName } = admin ?? (await anAdmin(api))
  const browser = api.browser()
  const { status } = await browser.post('/admin/login', { UserName: userName, Password: rightPassword })
  if (status !== 200) throw new Error(`${userName} was not signed in: ${status}`)
  return { ...browser, name: userName }
}

/** A protected entry; with `parentId` a child. */
export async function anAcl(api: PeopleApi, columns: Partial<Insertable<DB['acls']>> = {}): Promise<string> {
  const { id } = await api.db
    .insertInto('acls')
    .values({ description: `Knoc ${randomUUID().slice(0, 8)}`, ...columns })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The licence in force, in place of whichever there was. */
export async function aLicence(
  api: PeopleApi,
  columns: Partial<Insertable<DB['licences']>> = {},
): Promise<void> {
  await noLicence(api)
  await api.db
    .insertInto('licences')
    .values({
      licenceId: randomUUID(),
      licenceKey: 'key',
      userLimit: 1000,
      expiresAt: new Date(Date.now() + 86_400_000 * 365),
      ...columns,
    })
    .execute()
}

/** Takes the licence away. */
export async function noLicence(api: PeopleApi): Promise<void> {
  await api.db.updateTable('licences').set({ removedAt: new Date() }).where('removedAt', 'is', null).execute()
}

/** A standing grant of a user's newest session, an hour long. */
export async function aGrant(api: PeopleApi, userId: string, aclId: string): Promise<string> {
  const session = await api.db
    .selectFrom('sessions')
    .select('id')
    .where('userId', '=', userId)
    .orderBy('createdAt', 'desc')
    .executeTakeFirstOrThrow()
  const { id } = await api.db
    .insertInto('grants')
    .values({
      sessionId: session.id,
      userId,
      aclId,
      address: '198.51.100.7',
      clientAddress: '198.51.100.7',
      source: 'own',
      reason: 'automatic',
      endsAt: new Date(Date.now() + 3_600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** When and why a grant ended; null while it stands. */
export async function endOf(
  api: PeopleApi,
  grantId: string,
): Promise<{ endedReason: string | null; endsAt: Date }> {
  return api.db
    .selectFrom('grants')
    .select(['endedReason', 'endsAt'])
    .where('id', '=', grantId)
    .executeTakeFirstOrThrow()
}

/** Kinds and fields of audit events that name somebody. */
export async function auditOf(
  api: PeopleApi,
  name: string,
): Promise<{ kind: string; fields: Record<string, string> }[]> {
  const rows = await api.db.selectFrom('auditEvents').select(['kind', 'fields']).orderBy('id').execute()
  return (rows as { kind: string; fields: Record<string, string> }[]).filter(({ fields }) =>
    Object.values(fields).includes(name),
  )
}

/**
 * Groups whose names an identity provider may say: of the types saml and dynamic, which it decides about, and a
 * local one, which it doesn't. The saml one carries a knoc.
 */
export async function providerGroups(api: PeopleApi) {
  const tag = randomUUID().slice(0, 8)
  const names = { saml: `Ops ${tag}`, dynamic: `Staff ${tag}`, local: `Board ${tag}` }
  const groups = await api.db
    .insertInto('groups')
    .values(Object.entries(names).map(([type, name]) => ({ type, name })))
    .returning(['id', 'type'])
    .execute()
  const aclId = await anAcl(api)
  const groupId = groups.find(({ type }) => type === 'saml')?.id ?? ''
  await api.db.insertInto('groupAcls').values({ groupId, aclId }).execute()
  return { ...names, aclId }
}

/** The names of a user's groups, sorted. */
export async function groupsOf(api: PeopleApi, userName: string): Promise<string[]> {
  const rows = await api.db
    .selectFrom('groupMembers')
    .innerJoin('groups', 'groups.id', 'groupMembers.groupId')
    .innerJoin('users', 'users.id', 'groupMembers.userId')
    .select('groups.name')
    .where('users.userName', '=', userName)
    .execute()
  return rows.map((row) => row.name).toSorted()
}
