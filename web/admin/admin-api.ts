import type {
  AdminCreateInput,
  AdminRow,
  AdminSessionRow,
  AdminUpdateInput,
} from '#server/admins/admin.schema.ts'
import type { AgentCreated, AgentDetail, AgentRow } from '#server/agents/agent.schema.ts'
import type { AgentDebt, AgentLists } from '#server/agents/agent-list.schema.ts'
import type { AdminLoginAnswer } from '#server/auth/auth.schema.ts'
import type { GroupRequest, GroupRow, GroupUpdate } from '#server/groups/group.schema.ts'
import type {
  KnocCreated,
  KnocDetail,
  KnocInput,
  KnocRow,
  KnocUpdateInput,
} from '#server/knocs/knoc.schema.ts'
import type { LicenceStatus } from '#server/licence/licence.schema.ts'
import type { Created, ListQuery } from '#server/platform/wire.schema.ts'
import type {
  AuthSettingsAnswer,
  AuthSettingsChange,
  GeneratedKeyPair,
} from '#server/settings/auth-setting-wire.schema.ts'
import type { ConfigChange, CustomizeChange, SettingsAnswer } from '#server/settings/setting.schema.ts'
import type { AdminStatus, HalfAdminStatus } from '#server/status/status.schema.ts'
import type {
  UserAclRow,
  UserCreated,
  UserCreateInput,
  UserGroupRow,
  UserRow,
  UserSessionRow,
  UserUpdate,
} from '#server/users/user.schema.ts'
import { type Answer, request, requestAnswer } from '../api.ts'

/**
 * The console's calls, one named function each, typed by the wire's schemas. Paths: console §7.
 *
 * Functions that read one thing for an edit answer its ETag beside it; the update takes it back as If-Match, so
 * that nobody overwrites what a colleague changed meanwhile (decision 17).
 */

/** One thing as it was read, with the version to name when it is written. */
export type Versioned<T> = { data: T; etag: string | null }

/** A page of a list, and how many rows there are in all. */
export type Page<T> = { rows: T[]; total: number }

/** What every read takes: the query's signal, which ends the request when nobody waits for it any more. */
type Reading = { signal?: AbortSignal | undefined }

export const login = (body: { UserName: string; Password: string }) =>
  request<AdminLoginAnswer>('POST', '/api/admin/login', { body })
export const logout = () => request<null>('POST', '/api/admin/logout')
export const changePassword = (body: { ExistingPassword: string; NewPassword: string }) =>
  request<null>('POST', '/api/password', { body })
export const fetchAdminStatus = ({ signal }: Reading = {}) =>
  request<AdminStatus | HalfAdminStatus>('GET', '/api/admin/status', { signal })

export const listAgents = ({ signal }: Reading = {}) =>
  request<AgentRow[]>('GET', '/api/admin/agents', { signal })
export const fetchAgent = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<AgentDetail>(`/api/admin/agents/${id}`, signal)
export const createAgent = (name: string) =>
  request<AgentCreated>('POST', '/api/admin/agents', { body: { Name: name } })
export const renameAgent = ({ id, name, etag }: { id: string; name: string; etag: string | null }) =>
  update(`/api/admin/agents/${id}`, { ID: id, Name: name }, etag)
/** Asked for behind a confirmation: an enrolled agent loses its key with it. */
export const renewAgentToken = (id: string) =>
  request<AgentCreated>('POST', `/api/admin/agents/${id}/token`, { body: { Confirm: true } })
export const deleteAgent = (id: string) => request<null>('DELETE', `/api/admin/agents/${id}`)

export const fetchAgentLists = (id: string, { signal }: Reading = {}) =>
  request<AgentLists>('GET', `/api/admin/agents/${id}/lists`, { signal })
export const listAgentDebts = async (
  id: string,
  query: ListQuery,
  { signal }: Reading = {},
): Promise<Page<AgentDebt>> => {
  const path = `/api/admin/agents/${id}/debts${toSearch(query)}`
  const { data, total } = await requestAnswer<AgentDebt[]>('GET', path, { signal })
  return { rows: data, total: total ?? data.length }
}
/** Gives up a list that drains, with its doors. */
export const forgetList = ({
  agentId,
  listId,
  reason,
}: {
  agentId: string
  listId: string
  reason: string
}) =>
  request<null>('POST', `/api/admin/agents/${agentId}/lists/${listId}/forget`, { body: { Reason: reason } })

export const listKnocs = ({ signal }: Reading = {}) =>
  request<KnocRow[]>('GET', '/api/admin/knocs', { signal })
export const fetchKnoc = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<KnocDetail>(`/api/admin/knocs/${id}`, signal)
export const createKnoc = (body: KnocInput) => request<KnocCreated>('POST', '/api/admin/knocs', { body })
export const updateKnoc = ({ id, body, etag }: { id: string; body: KnocUpdateInput; etag: string | null }) =>
  update(`/api/admin/knocs/${id}`, body, etag)
export const deleteKnoc = (id: string) => request<null>('DELETE', `/api/admin/knocs/${id}`)

export const listGroups = ({ signal }: Reading = {}) =>
  request<GroupRow[]>('GET', '/api/admin/groups', { signal })
/** With all its members and knocs: a group is written whole. */
export const fetchGroup = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<GroupRow>(`/api/admin/groups/${id}`, signal)
export const createGroup = (body: GroupRequest) => request<Created>('POST', '/api/admin/groups', { body })
export const updateGroup = ({ id, body, etag }: { id: string; body: GroupUpdate; etag: string | null }) =>
  update(`/api/admin/groups/${id}`, body, etag)
export const deleteGroup = (id: string) => request<null>('DELETE', `/api/admin/groups/${id}`)

/** Users by page, found and ordered by the server: the console works for 100,000 of them. */
export const listUsers = async (query: ListQuery, { signal }: Reading = {}): Promise<Page<UserRow>> => {
  const { data, total } = await requestAnswer<UserRow[]>('GET', `/api/admin/users${toSearch(query)}`, {
    signal,
  })
  return { rows: data, total: total ?? data.length }
}
export const fetchUser = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<UserRow>(`/api/admin/users/${id}`, signal)
export const createUser = (body: UserCreateInput) =>
  request<UserCreated>('POST', '/api/admin/users', { body })
export const updateUser = ({ id, body, etag }: { id: string; body: UserUpdate; etag: string | null }) =>
  update(`/api/admin/users/${id}`, body, etag)
export const deleteUser = (id: string) => request<null>('DELETE', `/api/admin/users/${id}`)
/** Takes secret and recovery codes away and ends the sessions; the user enrols anew. */
export const resetUserTotp = (id: string) => request<null>('DELETE', `/api/admin/users/${id}/totpToken`)
export const listUserSessions = (id: string, { signal }: Reading = {}) =>
  request<UserSessionRow[]>('GET', `/api/admin/users/${id}/sessions`, { signal })
/** The knocs a user has, by itself or through its groups. */
export const listUserAcls = (id: string, { signal }: Reading = {}) =>
  request<UserAclRow[]>('GET', `/api/admin/users/${id}/acls`, { signal })
export const listUserGroups = (id: string, { signal }: Reading = {}) =>
  request<UserGroupRow[]>('GET', `/api/admin/users/${id}/groups`, { signal })
export const endSession = (id: string) => request<null>('DELETE', `/api/admin/sessions/${id}`)
export const endAllSessions = () => request<null>('DELETE', '/api/admin/sessions')

export const listAdmins = ({ signal }: Reading = {}) =>
  request<AdminRow[]>('GET', '/api/admin/admins', { signal })
export const fetchAdmin = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<AdminRow>(`/api/admin/admins/${id}`, signal)
export const createAdmin = (body: AdminCreateInput) => request<Created>('POST', '/api/admin/admins', { body })
export const updateAdmin = ({
  id,
  body,
  etag,
}: {
  id: string
  body: AdminUpdateInput
  etag: string | null
}) => update(`/api/admin/admins/${id}`, body, etag)
export const deleteAdmin = (id: string) => request<null>('DELETE', `/api/admin/admins/${id}`)
export const resetAdminTotp = (id: string) => request<null>('DELETE', `/api/admin/admins/${id}/totpToken`)
export const listAdminSessions = (id: string, { signal }: Reading = {}) =>
  request<AdminSessionRow[]>('GET', `/api/admin/admins/${id}/sessions`, { signal })
export const endAdminSession = (id: string) => request<null>('DELETE', `/api/admin/adminsessions/${id}`)
/** One's own session included. */
export const endAllAdminSessions = () => request<null>('DELETE', '/api/admin/adminsessions')

export const fetchSettings = ({ signal }: Reading = {}) =>
  fetchVersioned<SettingsAnswer>('/api/admin/settings', signal)
export const saveConfig = ({ body, etag }: { body: ConfigChange; etag: string | null }) =>
  request<null>('POST', '/api/admin/settings/config', { body, ...ifMatch(etag) })
export const customize = ({ body, etag }: { body: CustomizeChange; etag: string | null }) =>
  request<null>('POST', '/api/admin/settings/customize', { body, ...ifMatch(etag) })
export const fetchAuthSettings = ({ signal }: Reading = {}) =>
  fetchVersioned<AuthSettingsAnswer>('/api/admin/settings/authentication', signal)
export const saveAuthSettings = ({ body, etag }: { body: AuthSettingsChange; etag: string | null }) =>
  request<null>('POST', '/api/admin/settings/authentication', { body, ...ifMatch(etag) })
/** Asked for behind a confirmation: what an identity provider knows of the old key pair no longer holds. */
export const generateSamlKeyPair = (realm: 'user' | 'admin') =>
  request<GeneratedKeyPair>(
    'POST',
    `/api/admin/settings/generate${realm === 'user' ? 'User' : 'Admin'}SamlKeyCert`,
    { body: { Confirm: true } },
  )

export const fetchLicence = ({ signal }: Reading = {}) =>
  request<LicenceStatus>('GET', '/api/admin/settings/license', { signal })
export const saveLicence = (key: string) =>
  request<LicenceStatus>('POST', '/api/admin/settings/license', { body: { License: key } })
/** Closes every door at once. */
export const removeLicence = () => request<null>('DELETE', '/api/admin/settings/license')
export const refreshLicence = () => request<LicenceStatus>('POST', '/api/admin/settings/license/refresh')

/** The part of an address behind the path; parameters that aren't set are left out. */
export function toSearch(query: ListQuery): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
  return search === '' ? '' : `?${search}`
}

const fetchVersioned = async <T>(path: string, signal: AbortSignal | undefined): Promise<Versioned<T>> => {
  const { data, etag }: Answer<T> = await requestAnswer<T>('GET', path, { signal })
  return { data, etag }
}

const update = (path: string, body: unknown, etag: string | null): Promise<null> =>
  request<null>('PUT', path, { body, ...ifMatch(etag) })

const ifMatch = (etag: string | null) => (etag === null ? {} : { headers: { 'If-Match': etag } })
