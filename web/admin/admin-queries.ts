import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { stepCodes } from '#machines/sign-in.machine.ts'
import type { ListQuery } from '#server/platform/wire.schema.ts'
import { ApiFailure, echoSession } from '../api.ts'
import * as api from './admin-api.ts'
import { readAdminSession, writeAdminSession } from './admin-session.ts'
import { stepLeft } from './sign-in-step.ts'

/** How often the console asks again, in milliseconds. Console §9. */
export const pollMs = {
  home: 30_000,
  alarms: 30_000,
  shell: 180_000,
  agents: 5_000,
  users: 30_000,
  token: 2_000,
} as const

/** How long lists and the status are good, in milliseconds. Console §9. */
const cacheMs = 180_000

/** For a form: what is typed stands on what was read, which is read anew only when that is asked for. */
export const asRead = {
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 0,
  refetchOnReconnect: false,
} as const

/** What the console reads, each with its key, so that a change can name what it made stale. */
export const queries = {
  /** The admin's status; the last one is kept for the page session, so that a reload shows the frame at once. */
  status: queryOptions({
    queryKey: ['admin', 'status'],
    queryFn: async ({ signal }) => {
      const status = await api.fetchAdminStatus({ signal })
      if (!status.SessionComplete) throw new ApiFailure({ status: 403, code: stepCodes[stepLeft(status)] })
      echoSession(status.Session)
      writeAdminSession(status)
      return status
    },
    initialData: readAdminSession,
    initialDataUpdatedAt: 0,
    staleTime: cacheMs,
    // Being signed out, or half in, is an answer: asked again, it would count as unknown for a moment, and the page
    // of the second step would go with what is on it.
    retryOnMount: false,
    refetchOnReconnect: ({ state }) => state.data !== undefined,
  }),
  agents: queryOptions({
    queryKey: ['admin', 'agents'],
    queryFn: ({ signal }) => api.listAgents({ signal }),
    staleTime: cacheMs,
  }),
  agent: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'agents', id],
      queryFn: ({ signal }) => api.fetchAgent(id, { signal }),
    }),
  agentLists: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'agents', id, 'lists'],
      queryFn: ({ signal }) => api.fetchAgentLists(id, { signal }),
    }),
  agentDebts: (id: string, query: ListQuery) =>
    queryOptions({
      queryKey: ['admin', 'agents', id, 'debts', query],
      queryFn: ({ signal }) => api.listAgentDebts(id, query, { signal }),
      placeholderData: keepPreviousData,
    }),
  knocs: queryOptions({
    queryKey: ['admin', 'knocs'],
    queryFn: ({ signal }) => api.listKnocs({ signal }),
    staleTime: cacheMs,
  }),
  knoc: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'knocs', id],
      queryFn: ({ signal }) => api.fetchKnoc(id, { signal }),
    }),
  groups: queryOptions({
    queryKey: ['admin', 'groups'],
    queryFn: ({ signal }) => api.listGroups({ signal }),
    staleTime: cacheMs,
  }),
  group: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'groups', id],
      queryFn: ({ signal }) => api.fetchGroup(id, { signal }),
    }),
  users: (query: ListQuery) =>
    queryOptions({
      queryKey: ['admin', 'users', 'list', query],
      queryFn: ({ signal }) => api.listUsers(query, { signal }),
      placeholderData: keepPreviousData,
      staleTime: cacheMs,
    }),
  user: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'users', id],
      queryFn: ({ signal }) => api.fetchUser(id, { signal }),
    }),
  userSessions: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'users', id, 'sessions'],
      queryFn: ({ signal }) => api.listUserSessions(id, { signal }),
    }),
  userAcls: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'users', id, 'acls'],
      queryFn: ({ signal }) => api.listUserAcls(id, { signal }),
    }),
  userGroups: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'users', id, 'groups'],
      queryFn: ({ signal }) => api.listUserGroups(id, { signal }),
    }),
  admins: queryOptions({
    queryKey: ['admin', 'admins'],
    queryFn: ({ signal }) => api.listAdmins({ signal }),
    staleTime: cacheMs,
  }),
  admin: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'admins', id],
      queryFn: ({ signal }) => api.fetchAdmin(id, { signal }),
    }),
  adminSessions: (id: string) =>
    queryOptions({
      queryKey: ['admin', 'admins', id, 'sessions'],
      queryFn: ({ signal }) => api.listAdminSessions(id, { signal }),
    }),
  settings: queryOptions({
    queryKey: ['admin', 'settings', 'config'],
    queryFn: ({ signal }) => api.fetchSettings({ signal }),
  }),
  authSettings: queryOptions({
    queryKey: ['admin', 'settings', 'authentication'],
    queryFn: ({ signal }) => api.fetchAuthSettings({ signal }),
  }),
  licence: queryOptions({
    queryKey: ['admin', 'licence'],
    queryFn: ({ signal }) => api.fetchLicence({ signal }),
  }),
}

/** Everything of one kind, for `invalidateQueries`. */
export const stale = {
  status: { queryKey: ['admin', 'status'] },
  agents: { queryKey: ['admin', 'agents'] },
  knocs: { queryKey: ['admin', 'knocs'] },
  groups: { queryKey: ['admin', 'groups'] },
  users: { queryKey: ['admin', 'users'] },
  admins: { queryKey: ['admin', 'admins'] },
  licence: { queryKey: ['admin', 'licence'] },
} as const
