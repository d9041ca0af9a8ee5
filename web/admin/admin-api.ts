import type { AgentCreated, AgentDetail, AgentRow } from '#server/agents/agent.schema.ts'
import type { AdminLoginAnswer } from '#server/auth/auth.schema.ts'
import type { GroupRow } from '#server/groups/group.schema.ts'
import type { KnocCreated, KnocDetail, KnocInput, KnocRow, KnocUpdate } from '#server/knocs/knoc.schema.ts'
import type { LicenceStatus } from '#server/licence/licence.schema.ts'
import type { Created, ListQuery } from '#server/platform/wire.schema.ts'
import type { AdminStatus, HalfAdminStatus } from '#server/status/status.schema.ts'
import type {
  UserAclRow,
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

export const listKnocs = ({ signal }: Reading = {}) =>
  request<KnocRow[]>('GET', '/api/admin/knocs', { signal })
export const fetchKnoc = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<KnocDetail>(`/api/admin/knocs/${id}`, signal)
export const createKnoc = (body: KnocInput) => request<KnocCreated>('POST', '/api/admin/knocs', { body })
export const updateKnoc = ({ id, body, etag }: { id: string; body: KnocUpdate; etag: string | null }) =>
  update(`/api/admin/knocs/${id}`, body, etag)
export const deleteKnoc = (id: string) => request<null>('DELETE', `/api/admin/knocs/${id}`)

export const listGroups = ({ signal }: Reading = {}) =>
  request<GroupRow[]>('GET', '/api/admin/groups', { signal })

/** Users by page, found and ordered by the server: the console works for 100,000 of them. */
export const listUsers = async (query: ListQuery, { signal }: Reading = {}): Promise<Page<UserRow>> => {
  const { data, total } = await requestAnswer<UserRow[]>('GET', `/api/admin/users${toSearch(query)}`, {
    signal,
  })
  return { rows: data, total: total ?? data.length }
}
export const fetchUser = (id: string, { signal }: Reading = {}) =>
  fetchVersioned<UserRow>(`/api/admin/users/${id}`, signal)
export const createUser = (body: UserCreateInput) => request<Created>('POST', '/api/admin/users', { body })
export const updateUser = ({ id, body, etag }: { id: string; body: UserUpdate; etag: string | null }) =>
  update(`/api/admin/users/${id}`, body, etag)
export const deleteUser = (id: string) => request<null>('DELETE', `/api/admin/users/${id}`)
export const listUserSessions = (id: string, { signal }: Reading = {}) =>
  request<UserSessionRow[]>('GET', `/api/admin/users/${id}/sessions`, { signal })
/** The knocs a user has, by itself or through its groups. */
export const listUserAcls = (id: string, { signal }: Reading = {}) =>
  request<UserAclRow[]>('GET', `/api/admin/users/${id}/acls`, { signal })
export const listUserGroups = (id: string, { signal }: Reading = {}) =>
  request<UserGroupRow[]>('GET', `/api/admin/users/${id}/groups`, { signal })
export const endSession = (id: string) => request<null>('DELETE', `/api/admin/sessions/${id}`)
export const endAllSessions = () => request<null>('DELETE', '/api/admin/sessions')

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
  request<null>('PUT', path, { body, ...(etag === null ? {} : { headers: { 'If-Match': etag } }) })
