import { hc } from 'hono/client'
import type { Api } from '#server/app.ts'
import { apiFetch } from './api.ts'

/** The API, typed by the server's own routes: a path, a body or an answer that isn't theirs doesn't compile. */
export const client = hc<Api>('/api', { fetch: apiFetch })
