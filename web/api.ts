import type { ErrorCode } from '#server/errors.ts'

/** A refusal of the server in the catalogue's words: HTTP status, code, and what it carries. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string
  readonly extra: string | undefined
  /** By the browser's clock, in milliseconds: a wait that the refusal names counts from here. */
  readonly receivedAt = Date.now()

  constructor({ status, code, extra }: { status: number; code: string; extra?: string | undefined }) {
    super(code)
    this.name = 'ApiFailure'
    this.status = status
    this.code = code
    this.extra = extra
  }
}

/** No answer at all: offline, server down, time over. What is on screen stays and says so. */
export class NetworkFailure extends Error {
  constructor(cause: unknown) {
    super('network', { cause })
    this.name = 'NetworkFailure'
  }
}

/** Whether an error is the refusal of this code. */
export const isFailure = (error: unknown, code: ErrorCode): error is ApiFailure =>
  error instanceof ApiFailure && error.code === code

/** Whether the server itself was not able to answer: nothing is known, nothing is to be cleared. */
export const isOutage = (error: unknown): boolean =>
  error instanceof NetworkFailure || (error instanceof ApiFailure && error.status >= 500)

type Listeners = {
  /** 401 err.invalidSession: to the login of this bundle's realm. */
  invalidSession: () => void
  /** 403 err.totpVerificationRequired, err.totpEnrolmentRequired: to the second step. */
  stepRequired: (code: string) => void
  /** 409 err.sessionChanged: somebody signed in in another tab, this account or another. */
  sessionChanged: () => void
}
let listeners: Listeners = {
  invalidSession: () => {},
  stepRequired: () => {},
  sessionChanged: () => location.reload(),
}
let session: string | null = null

/** Says what to do when the server no longer knows the session, or wants more of it. Called once, by the bundle's main. */
export function onSessionLoss(next: Partial<Listeners>): void {
  listeners = { ...listeners, ...next }
}

/** The session this tab believes in (UserStatus.Session), echoed so that two accounts in two tabs can't mix (decision 40). */
export function echoSession(hash: string | null): void {
  session = hash
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type RequestOptions = {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** Milliseconds until a request counts as failed. */
const timeoutMs = 15_000

/** An answer's `data`, and its ETag for `If-Match`. */
export type Answer<T> = { data: T; total: number | undefined; etag: string | null }

/**
 * One call of the API. The path begins with `/api/`.
 *
 * Throws ApiFailure for an error answer and NetworkFailure when there is none.
 */
export async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
  return (await requestAnswer<T>(method, path, options)).data
}

/** The same with what stands beside the data: the total of a paged list, the ETag. */
export async function requestAnswer<T>(
  method: Method,
  path: string,
  { body, headers, signal }: RequestOptions = {},
): Promise<Answer<T>> {
  const response = await apiFetch(path, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  })
  const { data, total } = ((await readJson(response)) ?? {}) as { data: T; total?: number }
  return { data, total, etag: response.headers.get('etag') }
}

/** The data of a typed client's answer: `unwrap(client.theme.$get())`. */
export async function unwrap<T>(answer: Promise<{ json(): Promise<{ data: T }> }>): Promise<T> {
  const response = await answer
  try {
    return (await response.json()).data
  } catch (cause) {
    throw new NetworkFailure(cause)
  }
}

/**
 * `fetch` as this page does it: with the session's echo and a time limit, throwing ApiFailure for an error answer
 * and NetworkFailure when there is none. The typed client calls through it as well.
 */
export const apiFetch: typeof fetch = async (input, init = {}) => {
  const response = await send(input, init)
  if (response.ok) return response
  throw toFailure(response, await readJson(response))
}

async function send(input: RequestInfo | URL, init: RequestInit): Promise<Response> {
  const { signal } = init
  const limit = AbortSignal.timeout(timeoutMs)
  const headers = new Headers(init.headers)
  headers.set('Accept', 'application/json')
  if (session !== null) headers.set('X-Knoc-Session', session)
  try {
    return await fetch(input, {
      ...init,
      credentials: 'same-origin',
      cache: 'no-store',
      headers,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new NetworkFailure(cause)
  }
}

/** A proxy's page is not an answer of ours: it counts as none. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    if (response.ok || response.status >= 502) throw new NetworkFailure(cause)
    return null
  }
}

function toFailure(response: Response, body: unknown): ApiFailure {
  const { Err, Extra } = (body ?? {}) as { Err?: unknown; Extra?: unknown }
  const failure = new ApiFailure({
    status: response.status,
    code: typeof Err === 'string' ? Err : 'err.internal',
    extra: typeof Extra === 'string' ? Extra : undefined,
  })
  if (isFailure(failure, 'err.invalidSession')) listeners.invalidSession()
  if (isFailure(failure, 'err.sessionChanged')) listeners.sessionChanged()
  if (isFailure(failure, 'err.totpVerificationRequired') || isFailure(failure, 'err.totpEnrolmentRequired'))
    listeners.stepRequired(failure.code)
  return failure
}
